#pragma once
/// @file
/// Finds waits that can never end, because the processes run different programs.
///
/// Who has waited for long asks the device it waits for what that waits for, and so on: a probe
/// that comes back has found a cycle. It counts if a second probe, begun after the first has come
/// back, followed the very same waits: then all of them were going on at once in between, each for
/// something that the next had not done. Probes that were under way together prove nothing: they
/// lie in the postbox of a process that computes, and come back at once when it next waits. Correct
/// programs wait for each other all the time but never so. Source: K. M. Chandy, J. Misra, L. M.
/// Haas, Distributed deadlock detection, 1983 (edge chasing).

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "tessera/transport/failure.hpp"

#include "channels.hpp"
#include "control.hpp"
#include "postbox.hpp"
#include "waits.hpp"

namespace tessera {

/// Threads: the caller's.
class Questions {
 public:
  using Clock = std::chrono::steady_clock;

  Questions(Postbox& postbox, Job const& job, Channels const& channels, Waits const& waits,
            Failure& failure, double question_seconds);

  /// Asks about the waits of this process that have become long. A look costs little; call it
  /// often.
  void ask(Clock::time_point now);
  void on_probe(control::Probe const& probe) { follow(probe); }
  void on_finished(ProcessId process, control::Finished const& finished);

  void set_last_statement(StatementTag const& tag) { last_statement_ = tag; }
  /// From now on this process answers that it is done.
  void set_finished() { is_finished_ = true; }

 private:
  /// What is known of a wait of this process.
  struct Asked {
    explicit Asked(control::Node node_of_wait, std::uint64_t wait_number = 0,
                   Clock::time_point first_probe = {})
        : node(node_of_wait), wait(wait_number), next(first_probe) {}

    control::Node node;
    std::uint64_t wait = 0;
    Clock::time_point next;
    std::uint64_t signature = 0;          ///< of the cycle found last; 0 is none
    std::uint64_t probes = 0;             ///< begun about this wait
    std::uint64_t probes_when_found = 0;  ///< of those, begun before the cycle was found
  };

  [[nodiscard]] Asked& asked_of(WaitingNode const& waiting, Clock::time_point now);
  void begin_probe(WaitingNode const& waiting, std::uint64_t number);
  /// Follows waits through this process and passes the probe on to the next.
  void follow(control::Probe probe);
  /// Takes the step to the wait that was found; false if the probe ends here.
  [[nodiscard]] bool step(control::Probe& probe, WaitingNode const& next);
  void on_cycle(control::Probe const& probe);
  void reply_finished(control::Probe const& probe);

  Postbox& postbox_;
  Job const& job_;
  Channels const& channels_;
  Waits const& waits_;
  Failure& failure_;
  Clock::duration patience_;
  std::vector<Asked> asked_;
  StatementTag last_statement_;
  bool is_finished_ = false;
};

}  // namespace tessera
