#pragma once
/// @file
/// The deadlock detector: finds waits that can never end, because the processes run different
/// programs.
///
/// A thread that has waited for long sends a probe to the awaited device, which forwards it along
/// its own wait, and so on: a probe that returns has found a cycle. The cycle counts only if a
/// second probe, begun after the first has returned, followed exactly the same waits: then all of
/// them were active at the same time, each for an event that the next had not produced. Probes that
/// travel at the same time prove nothing: they wait in the control channel of a process that
/// computes, and return together when it next waits. Correct programs wait for each other all the
/// time, but never in this way. Source: K. M. Chandy, J. Misra, L. M. Haas, Distributed deadlock
/// detection, 1983 (edge chasing).

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "src/job/job.hpp"
#include "src/liveness/wait_registry.hpp"
#include "src/transport/protocol/control_channel.hpp"
#include "src/transport/protocol/control_messages.hpp"
#include "src/transport/protocol/failure.hpp"

namespace tessera {

/// Threads: the caller's.
class DeadlockDetector {
 public:
  using Clock = std::chrono::steady_clock;

  /// True if a local device has already produced the awaited event.
  using IsSatisfied = std::function<bool(control::Edge const&)>;

  DeadlockDetector(ControlChannel& control_channel, Job const& job, WaitRegistry const& waits,
                   IsSatisfied is_satisfied, Failure& failure, double question_seconds);

  /// Sends probes for the waits of this process that have become long. A check is cheap; call it
  /// often.
  void ask(Clock::time_point now);
  /// Throws: BadMessage for a probe that no process of this job sends.
  void on_probe(control::Probe const& probe);
  void on_finished(ProcessId process, control::Finished const& finished);

  void set_last_statement(StatementTag const& tag) { last_statement_ = tag; }
  /// Makes this process answer from now on that it is done.
  void set_finished() { is_finished_ = true; }

 private:
  /// The state of the probes for a wait of this process.
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
  /// Advances the probe to the next wait; false if the probe ends here.
  [[nodiscard]] bool step(control::Probe& probe, WaitingNode const& next);
  void on_cycle(control::Probe const& probe);
  void reply_finished(control::Probe const& probe);

  ControlChannel& control_channel_;
  Job const& job_;
  WaitRegistry const& waits_;
  IsSatisfied is_satisfied_;
  Failure& failure_;
  Clock::duration patience_;
  std::vector<Asked> asked_;
  StatementTag last_statement_;
  bool is_finished_ = false;
};

}  // namespace tessera
