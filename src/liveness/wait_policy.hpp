#pragma once
/// @file
/// How the threads of this process wait.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "src/base/log.hpp"
#include "src/base/yielder.hpp"
#include "src/job/job.hpp"
#include "src/liveness/heartbeat.hpp"
#include "src/liveness/wait_registry.hpp"
#include "src/liveness/wait_slot.hpp"
#include "src/transport/network_options.hpp"
#include "src/transport/protocol/failure.hpp"
#include "src/transport/protocol/waiter.hpp"

namespace tessera {

/// The lines about long waits of a process. Where one device is late, thousands may wait for it:
/// there are at most 16 lines until a minute after the last of them.
class StallWarnings {
 public:
  /// Prints `line()` unless there have been many. Threads: any.
  template <class Line>
  void print(Line const& line) {
    std::scoped_lock const lock(mutex_);
    auto const now = std::chrono::steady_clock::now();
    if (now - last_ > std::chrono::minutes(1)) count_ = 0;
    if (count_ == most) return;
    last_ = now;
    log_warning(line());
    if (++count_ == most) log_warning("more long waits than these are not reported one by one");
  }

 private:
  static constexpr int most = 16;

  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_;
  int count_ = 0;
};

/// The state that all waits of a process check.
struct WaitContext {
  Job const& job;
  NetworkOptions const& options;
  Failure const& failure;
  Heartbeats& heartbeats;
  WaitRegistry const& waits;
  StallWarnings& warnings;
};

/// Waits of a worker: an unsuccessful poll yields or sleeps, and from time to time checks the clock
/// and the peer's heartbeat.
class WorkerWaitPolicy : public Waiter {
 public:
  using Clock = std::chrono::steady_clock;

  WorkerWaitPolicy(WaitContext const& context, WaitSlot& slot) : context_(context), slot_(slot) {}

  void listen(Awaited const& what) override;

 protected:
  void begin(Awaited const& what) override;
  void end() override { slot_.end(); }
  void idle() override;

  [[nodiscard]] WaitContext const& context() const { return context_; }
  [[nodiscard]] Awaited const& awaited() const { return what_; }
  void give_core_away() { took_long_ = yielder_.yield_or_sleep(); }
  /// True at every sixteenth call, since reading the clock costs a tenth of a yield, and after each
  /// long one.
  [[nodiscard]] bool is_time_to_look() { return ++looks_ % 16 == 0 || took_long_; }
  /// Checks whether the wait has become too long. Throws: PeerFailed.
  void look(Clock::time_point now);
  /// Throws PeerFailed if `peer`, whom this wait is for, has failed.
  void check_peer(ProcessId peer, HeartbeatWatch& watch, Awaited const& what);
  /// Checks the processes that must act; at every heartbeat of a long wait.
  virtual void check_peers();

 private:
  void warn_once(Clock::time_point now);
  /// Names the one that the wait depends on, where it depends on one.
  [[nodiscard]] std::string who_is_late() const;

  WaitContext context_;
  WaitSlot& slot_;
  Yielder yielder_;
  Awaited what_;
  std::uint64_t looks_ = 0;
  bool took_long_ = false;
  bool has_looked_ = false;
  bool has_warned_ = false;
  Clock::time_point began_;
  Clock::time_point next_look_;
  HeartbeatWatch watch_;
};

/// The work of the caller's thread for others while it waits.
struct CallerDuties {
  std::function<bool()> progress;                                ///< drives the transports
  std::function<void()> poll;                                    ///< hands out control messages
  std::function<void(WorkerWaitPolicy::Clock::time_point)> ask;  ///< about long waits
  std::function<std::set<ProcessId> const&()> peers;
};

/// Waits of the caller's thread: an unsuccessful poll also does its duties.
class CallerWaitPolicy final : public WorkerWaitPolicy {
 public:
  CallerWaitPolicy(WaitContext const& context, WaitSlot& slot, CallerDuties duties)
      : WorkerWaitPolicy(context, slot), duties_(std::move(duties)) {}

  /// Says whether every unsuccessful poll also polls for control messages.
  void poll_often(bool often) { polls_often_ = often; }

  void drive() override;

 protected:
  void begin(Awaited const& what) override;
  void idle() override;
  void spin() override;
  void check_peers() override;

 private:
  bool progress();
  bool drive_once();
  [[noreturn]] void end_wait_for(ProcessId lost, std::string const& why);
  void serve(Clock::time_point now);

  CallerDuties duties_;
  bool polls_often_ = false;
  Clock::time_point next_poll_;
  Clock::time_point next_ask_;
  std::map<ProcessId, HeartbeatWatch> watches_;  ///< of all peers, where any may be awaited
};

}  // namespace tessera
