#pragma once
/// @file
/// The group of all GPUs of a job.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/exchange/compiled_statement.hpp"
#include "tessera/transport/bootstrap.hpp"
#include "tessera/transport/job.hpp"
#include "tessera/transport/network.hpp"
#include "tessera/transport/ucx_group.hpp"

#include "gpu_side.hpp"

namespace tessera {

/// What routes between GPUs are made with.
struct GpuRouteTools {
  Bootstrap& bootstrap;
  Job const& job;
  Network& network;
  std::vector<GpuSide*> sides;                ///< by local index
  std::function<void()> rest;                 ///< waits until no local device uses its messages
  std::vector<ncclComm*> nccl_communicators;  ///< of the program, by local index; else none
};

/// Joins the devices by NCCL or, where that cannot, by a UCX that reaches the memory of GPUs.
/// Threads: the caller's.
class GpuGroupRoute {
 public:
  /// Without devices in it.
  explicit GpuGroupRoute(GpuRouteTools const& tools) : tools_(tools) {}

  /// Joins all devices: where the job spans hosts, or where TESSERA_GPU_ROUTE asks for it.
  /// `wish`: of that variable.
  /// Ranks:  collective.
  /// Throws: alike on every process, ConfigError if what was asked for cannot join them, UsageError
  ///         if the program's communicators cannot.
  void join(std::string const& wish);

  /// Route::nccl, Route::ucx_gpu, or none.
  [[nodiscard]] std::optional<Route> route() const { return route_; }
  /// Why there is none where it would be of use.
  [[nodiscard]] std::string const& why_not() const { return why_not_; }

  /// Introduces members that send to each other for the first time.
  /// Ranks:  collective, for one statement.
  /// Throws: PeerFailed, Mismatch, TransportError.
  void introduce(CompiledStatement const& plan, StatementTag const& tag);

 private:
  using Pair = std::pair<DeviceId, DeviceId>;

  [[nodiscard]] bool spans_hosts() const;
  [[nodiscard]] std::string try_route(Route route);
  [[nodiscard]] std::string try_unasked(Route route);
  [[nodiscard]] std::string why_unfit(Route route) const;
  [[nodiscard]] bool has_communicators() const;
  void adopt_nccl();
  [[nodiscard]] std::string join_nccl();
  [[nodiscard]] std::string wait_until_joined();
  [[nodiscard]] std::string join_ucx();
  std::vector<GpuStream*> prepare_wires();
  void keep(std::vector<std::unique_ptr<GpuGroup>> groups);
  void leave();
  void tell_address(Pair pair, StatementTag const& tag);
  void hear_address(Pair pair, StatementTag const& tag);
  [[nodiscard]] std::size_t local_index(DeviceId device) const;

  GpuRouteTools const& tools_;
  std::optional<Route> route_;
  std::string why_not_;
  std::vector<UcxGroup*> members_;  ///< by local index, of a group by UCX
  std::set<Pair> introduced_;       ///< with a device of this process
};

}  // namespace tessera
