#pragma once
/// @file
/// Which route joins a pair of devices: arithmetic on where they are and what there is.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/ids.hpp"

#include "src/job/job.hpp"
#include "src/transport/protocol/route.hpp"
#include "src/transport/transport_table.hpp"

namespace tessera {

/// What is asked for between processes, in place of the best route.
struct ForcedRoutes {
  std::optional<Route> all;
  /// One per ordered pair of devices, before `all`; empty if nothing is asked for.
  std::function<std::optional<Route>(DeviceId from, DeviceId to)> pair;
};

/// Chooses routes by topology. One of the two devices of a pair is this process's.
///
/// Threads: any.
class Routing {
 public:
  /// `on_host` are the processes of this host by rank; `routes` those of the transports of this
  /// process. Lifetime: `job` and `on_host` outlive it.
  Routing(Job const& job, std::span<ProcessId const> on_host, std::vector<Route> routes,
          ForcedRoutes forced);

  [[nodiscard]] Distance distance(DeviceId from, DeviceId to) const;
  /// The routes that may join the pair, best first.
  [[nodiscard]] std::span<Route const> preferred(DeviceId from, DeviceId to) const;
  /// Returns the route that is asked for between the two, if they are of different processes.
  [[nodiscard]] std::optional<Route> forced(DeviceId from, DeviceId to) const;
  /// The process of the pair that is not this one, unless it drives both.
  [[nodiscard]] ProcessId remote_process(DeviceId from, DeviceId to) const;
  /// The best route of a pair, from the preference numbered `first` on.
  /// Throws: TransportError if there is none.
  [[nodiscard]] Route best(DeviceId from, DeviceId to, std::size_t first = 0) const;
  /// Index of the next route in the preference list.
  [[nodiscard]] std::size_t after(Route route, DeviceId from, DeviceId to) const;

 private:
  Job const& job_;
  std::span<ProcessId const> on_host_;
  std::vector<Route> routes_;
  ForcedRoutes forced_;
};

}  // namespace tessera
