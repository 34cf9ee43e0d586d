#pragma once
/// @file
/// How a process ends with the others of its job, in order or by an error.

#include <chrono>
#include <exception>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "src/job/bootstrap.hpp"
#include "src/job/job.hpp"
#include "src/liveness/heartbeat.hpp"
#include "src/network/network.hpp"
#include "src/transport/channels.hpp"
#include "src/transport/protocol/control_channel.hpp"

namespace tessera {

/// The announcement of a failure, and the barrier at which all processes meet before any leaves.
///
/// Threads: only the caller's thread.
class JobEnd {
 public:
  struct Parts {
    Bootstrap& bootstrap;
    Job const& job;
    ControlChannel& control_channel;
    Channels& channels;
    Heartbeats& heartbeats;
    std::function<void()> progress;  ///< of all messages
  };

  explicit JobEnd(Parts parts) : parts_(std::move(parts)) {}

  /// Enters the barrier. The first call counts, so a process whose end in order fails may end by an
  /// error.
  void begin_barrier();
  /// True if all processes are in the barrier.
  [[nodiscard]] bool all_are_here() { return parts_.bootstrap.barrier_done(); }

  /// As Network::announce_failure.
  void announce(std::exception_ptr const& error);
  /// As Network::serve_for.
  void serve_for(std::chrono::milliseconds time) noexcept;
  /// As Network::serve_until_all_end.
  void serve_until_all_end(Network::Limits limits) noexcept;

 private:
  void serve(std::chrono::milliseconds time, std::function<bool()> const& is_done) noexcept;
  [[nodiscard]] std::vector<ProcessId> living(std::set<ProcessId> const& all);
  [[nodiscard]] bool has_dead_peer();

  Parts parts_;
  bool is_in_barrier_ = false;
};

}  // namespace tessera
