#include "src/transport/routing.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {

Routing::Routing(Job const& job, std::span<ProcessId const> on_host, std::vector<Route> routes,
                 ForcedRoutes forced)
    : job_(job), on_host_(on_host), routes_(std::move(routes)), forced_(std::move(forced)) {}

Distance Routing::distance(DeviceId from, DeviceId to) const {
  if (job_.is_local(from) && job_.is_local(to)) return Distance::process;
  bool const on_host =
      std::binary_search(on_host_.begin(), on_host_.end(), remote_process(from, to));
  return on_host ? Distance::host : Distance::job;
}

std::span<Route const> Routing::preferred(DeviceId from, DeviceId to) const {
  return preferred_routes(distance(from, to));
}

std::optional<Route> Routing::forced(DeviceId from, DeviceId to) const {
  if (distance(from, to) == Distance::process) return std::nullopt;
  if (forced_.pair)
    if (auto const route = forced_.pair(from, to)) return route;
  return forced_.all;
}

ProcessId Routing::remote_process(DeviceId from, DeviceId to) const {
  return job_.process_of(job_.is_local(to) ? from : to);
}

Route Routing::best(DeviceId from, DeviceId to, std::size_t first) const {
  auto const wanted = forced(from, to);
  auto const routes = preferred(from, to);
  for (auto i = first; i < routes.size(); ++i) {
    bool const is_there = std::find(routes_.begin(), routes_.end(), routes[i]) != routes_.end();
    if (is_there && (!wanted || routes[i] == *wanted)) return routes[i];
  }
  throw TransportError(text("no ", first == 0 ? "" : "other ", "route joins device ", from,
                            " and device ", to,
                            wanted ? text(" while TESSERA_ROUTE=", *wanted, " is set") : ""));
}

std::size_t Routing::after(Route route, DeviceId from, DeviceId to) const {
  auto const routes = preferred(from, to);
  auto const found = std::find(routes.begin(), routes.end(), route);
  return static_cast<std::size_t>(found - routes.begin()) + 1;
}

}  // namespace tessera
