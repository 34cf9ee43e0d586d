#pragma once
/// @file
/// Chooses how cells travel between the GPUs of a job.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/execution/compiled_statement.hpp"
#include "src/execution/gpu_channels/gpu_channel.hpp"
#include "src/execution/gpu_channels/gpu_communicator.hpp"
#include "src/execution/queue_context.hpp"
#include "src/network/network.hpp"

namespace tessera {

/// Owns the peer channels between GPUs that reach each other's memory, and the communicator of all
/// GPUs; all other messages go through the host. Where the host reaches the memory of the devices
/// none of this is needed: the host packs messages into the slots of channels. Threads: the
/// caller's.
class GpuRoutes {
 public:
  /// Chooses as TESSERA_GPU_ROUTE says, and joins the GPU communicator if it is useful.
  /// Ranks:  collective.
  /// Throws: ConfigError, alike on every process, where they disagree or the route cannot join
  ///         them, UsageError for communicators that cannot be used; DeviceError, PeerFailed.
  explicit GpuRoutes(GpuRouteTools tools);
  ~GpuRoutes();
  GpuRoutes(GpuRoutes const&) = delete;
  GpuRoutes& operator=(GpuRoutes const&) = delete;

  /// Assigns a route to each message of a plan, and allocates memory for it. The plan's channels
  /// are open.
  /// Ranks:  collective, for one statement.
  /// Throws: DeviceError, TransportError, PeerFailed, Mismatch.
  void prepare(CompiledStatement& plan, StatementTag const& tag);

  /// True if messages of these devices may take other paths than the slots of channels.
  [[nodiscard]] bool are_needed() const { return are_needed_; }

  /// Releases memory and events of other processes before those end. Nothing may be sent
  /// afterwards.
  void release() noexcept;
  /// After a failure: no GPU waits for other processes any more.
  void abandon() noexcept;

 private:
  using Pair = std::pair<DeviceId, DeviceId>;
  /// One end of a GPU peer channel to be opened between processes for a message.
  struct Opening {
    Pair pair;
    Sender* sender = nullptr;  ///< of this process's end, if it sends
    std::int64_t slot_bytes = 0;
    GpuPeerChannel peer_channel;
    std::string reason;  ///< empty if both ends have it
  };

  void choose();
  [[nodiscard]] QueueContext& context(DeviceId device) const;
  [[nodiscard]] bool is_near(ProcessId process) const;
  /// Returns nothing if the message takes the channel's host route.
  [[nodiscard]] std::optional<Route> route_between(DeviceId from, DeviceId to) const;

  void open_peer_channels(CompiledStatement const& plan, StatementTag const& tag);
  void open_local_peer_channel(Pair pair, std::int64_t bytes);
  void put_in_place(Pair pair, GpuPeerChannel&& peer_channel);
  [[nodiscard]] std::int64_t shared_slot_bytes(Pair pair, std::int64_t bytes) const;
  static void add_opening(std::vector<Opening>& openings, Opening&& opening);
  [[nodiscard]] bool needs_peer_channel(Pair pair, std::int64_t bytes) const;
  void open_remote_peer_channels(std::vector<Opening>& incoming, std::vector<Opening>& outgoing,
                                 StatementTag const& tag);
  void offer(Opening& opening, StatementTag const& tag);
  void accept(Opening& opening, StatementTag const& tag);
  void confirm(Opening& opening, StatementTag const& tag);
  void keep(Opening& opening);

  void choose_path(Message& message, DeviceId from, DeviceId to);
  void make_space(QueueContext& context, DevicePlan& plan);

  GpuRouteTools tools_;
  bool const are_needed_;
  GpuRouteChoice choice_ = GpuRouteChoice::automatic;  ///< of TESSERA_GPU_ROUTE
  CommunicatorRoute group_{tools_};
  std::map<Pair, std::unique_ptr<GpuPeerChannel>> peer_channels_;
  std::vector<std::pair<Pair, GpuPeerChannel>> earlier_;  ///< that have grown, or failed
  std::set<Pair> without_peer_channel_;  ///< between processes of this host that cannot have one
};

/// Returns the route that a message takes.
[[nodiscard]] Route route_of(Message const& message);

using RouteBytes = std::array<std::int64_t, route_count>;  ///< by Route
/// Adds what the plan's devices send when it runs so many times.
void add_bytes(RouteBytes& bytes, CompiledStatement const& plan, std::int64_t times);

}  // namespace tessera
