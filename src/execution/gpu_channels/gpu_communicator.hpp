#pragma once
/// @file
/// The communicator of all GPUs of a job.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/base/text.hpp"
#include "src/device/peers.hpp"
#include "src/execution/compiled_statement.hpp"
#include "src/execution/gpu_channels/gpu_route_choice.hpp"
#include "src/execution/gpu_channels/ucx_communicator.hpp"
#include "src/execution/queue_context.hpp"
#include "src/job/bootstrap.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"

namespace tessera {

/// The inputs for making routes between GPUs.
struct GpuRouteTools {
  Bootstrap& bootstrap;
  Job const& job;
  Network& network;
  std::vector<QueueContext*> contexts;  ///< by local index
  std::function<void()> rest;           ///< waits until no local device uses its messages
  GivenCommunicators communicators;     ///< of the program
};

/// Joins the devices by the GPUs' own library or, if that is impossible, by a UCX that reaches GPU
/// memory.
/// Threads: the caller's.
class CommunicatorRoute {
 public:
  /// Starts without members.
  explicit CommunicatorRoute(GpuRouteTools const& tools) : tools_(tools) {}

  /// Joins all devices: where the job spans hosts, or where TESSERA_GPU_ROUTE asks for it.
  /// Ranks:  collective.
  /// Throws: alike on every process, ConfigError if what was asked for cannot join them, UsageError
  ///         if the program's communicators cannot.
  void join(GpuRouteChoice choice);

  /// Route::nccl, Route::ucx_gpu, or none.
  [[nodiscard]] std::optional<Route> route() const { return route_; }
  /// The reason why there is no communicator although it would be useful.
  [[nodiscard]] std::string const& reason_without_communicator() const {
    return reason_without_communicator_;
  }

  /// Introduces members that send to each other for the first time.
  /// Ranks:  collective, for one statement.
  /// Throws: PeerFailed, Mismatch, TransportError.
  void introduce(CompiledStatement const& plan, StatementTag const& tag);

 private:
  using Pair = std::pair<DeviceId, DeviceId>;

  void join_asked(GpuRouteChoice choice, Route route);
  [[nodiscard]] bool joins(Route route, std::string const& reason);
  [[nodiscard]] bool spans_hosts() const;
  [[nodiscard]] std::string try_route(Route route);
  [[nodiscard]] std::string try_unasked(Route route);
  [[nodiscard]] std::string reason_against(Route route) const;
  [[nodiscard]] bool has_communicators() const;
  void adopt_given();
  [[nodiscard]] std::string join_nccl();
  [[nodiscard]] std::string wait_until_joined();
  [[nodiscard]] std::string join_ucx();
  std::vector<Queue*> prepare_communication_queues();
  void keep(std::vector<std::unique_ptr<GpuCommunicator>> groups);
  void leave();
  void tell_address(Pair pair, StatementTag const& tag);
  void hear_address(Pair pair, StatementTag const& tag);
  [[nodiscard]] std::size_t local_index(DeviceId device) const;

  GpuRouteTools const& tools_;
  std::optional<Route> route_;
  std::string reason_without_communicator_;
  std::vector<UcxCommunicator*> members_;  ///< by local index, of a group by UCX
  std::set<Pair> introduced_;              ///< with a device of this process
};

}  // namespace tessera
