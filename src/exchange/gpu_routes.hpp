#pragma once
/// @file
/// How cells travel between the GPUs of a job.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/exchange/compiled_statement.hpp"
#include "tessera/transport/network.hpp"

#include "gpu_group_route.hpp"
#include "gpu_lane.hpp"
#include "gpu_side.hpp"

namespace tessera {

/// Lanes between GPUs that reach each other's memory, the group of all GPUs, and through the host
/// what neither serves. Threads: the caller's.
class GpuRoutes {
 public:
  /// Chooses as TESSERA_GPU_ROUTE says, and joins the group where there is use for it.
  /// Ranks:  collective.
  /// Throws: ConfigError, alike on every process, where they disagree or the route cannot join
  ///         them, UsageError for communicators that cannot be used; DeviceError, PeerFailed.
  explicit GpuRoutes(GpuRouteTools tools);
  ~GpuRoutes();
  GpuRoutes(GpuRoutes const&) = delete;
  GpuRoutes& operator=(GpuRoutes const&) = delete;

  /// Says for each message of a plan how it travels, and makes room for it. Its channels are open.
  /// Ranks:  collective, for one statement.
  /// Throws: DeviceError, TransportError, PeerFailed, Mismatch.
  void prepare(CompiledStatement& plan, StatementTag const& tag);

  /// Ends the use of what belongs to other processes, before these end. Nothing is sent any more.
  void let_go() noexcept;
  /// After a failure: no GPU waits for other processes any more.
  void abandon() noexcept;

 private:
  using Pair = std::pair<DeviceId, DeviceId>;
  /// One end of a lane to be opened between processes, which a message needs.
  struct Opening {
    Pair pair;
    Sender* sender = nullptr;  ///< of this process's end, if it sends
    std::int64_t slot_bytes = 0;
    GpuLane lane;
    std::string why_not;  ///< empty if both ends have it
  };

  [[nodiscard]] GpuSide& side(DeviceId device) const;
  [[nodiscard]] bool is_near(ProcessId process) const;
  /// None: through the host, by the channel's.
  [[nodiscard]] std::optional<Route> route_between(DeviceId from, DeviceId to) const;

  void open_lanes(CompiledStatement const& plan, StatementTag const& tag);
  void open_local_lane(Pair pair, std::int64_t bytes);
  void put_in_place(Pair pair, GpuLane&& lane);
  [[nodiscard]] std::int64_t shared_slot_bytes(Pair pair, std::int64_t bytes) const;
  [[nodiscard]] bool needs_lane(Pair pair, std::int64_t bytes) const;
  void open_remote_lanes(std::vector<Opening>& incoming, std::vector<Opening>& outgoing,
                         StatementTag const& tag);
  void offer(Opening& opening, StatementTag const& tag);
  void accept(Opening& opening, StatementTag const& tag);
  void confirm(Opening& opening, StatementTag const& tag);
  void keep(Opening& opening);

  void name(Message& message, DeviceId from, DeviceId to);
  void make_room(GpuSide& side, DevicePlan const& plan);

  GpuRouteTools tools_;
  std::string wish_;  ///< of TESSERA_GPU_ROUTE; empty if it is not set
  GpuGroupRoute group_{tools_};
  std::map<Pair, std::unique_ptr<GpuLane>> lanes_;
  std::vector<std::pair<Pair, GpuLane>> earlier_;  ///< that have grown, or failed
  std::set<Pair> without_lane_;  ///< between processes of this host that cannot have one
};

/// How a message travels.
[[nodiscard]] Route route_of(Message const& message);

}  // namespace tessera
