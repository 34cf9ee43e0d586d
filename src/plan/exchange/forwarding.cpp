#include "src/plan/exchange/forwarding.hpp"

#include <algorithm>

#include "src/base/environment.hpp"

namespace tessera {

std::optional<std::int64_t> forward_variable() {
  return environment_integer("TESSERA_FORWARD", 0);
}

Forwarding Forwarding::in_job(Machine const& machine) {
  auto const& hosts = machine.hosts;
  auto const& costs = machine.costs;
  auto const members = std::max<std::int64_t>(hosts.members, 1);
  if (auto const asked_for = forward_variable())
    return {{members, *asked_for == 0 ? members : std::min(*asked_for, members)}, 0};
  // A cell that is forwarded takes one more message, which the network's time must be worth.
  constexpr double most_bytes = 1LL << 50;
  return {hosts,
          static_cast<std::int64_t>(std::min(costs.network_bytes / costs.messages, most_bytes))};
}

}  // namespace tessera
