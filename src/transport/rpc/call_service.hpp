#pragma once
/// @file
/// Which way the calls between the processes of a job take.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/job/bootstrap.hpp"
#include "src/job/job_secret.hpp"
#include "src/transport/protocol/control_channel.hpp"
#include "src/transport/protocol/control_messages.hpp"
#include "src/transport/protocol/refused.hpp"
#include "src/transport/protocol/route.hpp"
#include "src/transport/rpc/control_calls.hpp"
#include "src/transport/rpc/remote_calls.hpp"
#include "src/transport/rpc/served_calls.hpp"

namespace tessera {

/// The calls of one process, from its preparations on. Threads: the caller's.
class CallService {
 public:
  CallService(Bootstrap& bootstrap, ControlChannel& control_channel, JobSecret const& secret,
              Refused& refused)
      : bootstrap_(bootstrap),
        control_channel_(control_channel),
        secret_(secret),
        refused_(refused) {}

  /// Begins to answer calls of other processes, from a thread of its own; where that cannot be, the
  /// result says why. Called once. `forced` is the route that the environment asks for.
  /// Ranks: collective.
  [[nodiscard]] std::string prepare(std::optional<Route> forced, Serve const& serve);

  /// Lets the threads of all processes answer from now on. Every process must have prepared
  /// successfully. Ranks: collective.
  void open_by_threads();
  /// Lets callers' threads answer from now on, while they wait; `poll` hands out control messages.
  void open_by_callers(std::function<void()> poll, Serve const& serve);

  /// Null until calls are prepared or open.
  [[nodiscard]] Calls* calls() const;

  // Control messages, which are ignored unless callers' threads answer.
  void on_request(ProcessId from, control::Request const& request);
  void on_reply(control::Reply const& reply);

 private:
  Bootstrap& bootstrap_;
  ControlChannel& control_channel_;
  JobSecret secret_;
  Refused& refused_;
  std::unique_ptr<ControlCalls> by_callers_;
  std::unique_ptr<ServedCalls> by_threads_;
};

}  // namespace tessera
