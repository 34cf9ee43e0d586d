#include "src/job/host_address.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tessera {
namespace {

HostAddress address_in(sockaddr const* any) {
  return reinterpret_cast<sockaddr_in const*>(any)->sin_addr.s_addr;
}

/// Those that are up; the loopback last.
std::vector<Interface> interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> const list(first, &::freeifaddrs);
  std::vector<Interface> found;
  std::vector<Interface> loopback;
  for (auto const* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr) continue;
    if (one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_UP) == 0) continue;
    auto& into = (one->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : found;
    into.push_back({address_in(one->ifa_addr), address_in(one->ifa_netmask)});
  }
  found.insert(found.end(), loopback.begin(), loopback.end());
  return found;
}

/// The address that the system would send from; nothing is sent.
HostAddress source_towards(HostAddress peer) {
  int const probe = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return 0;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(9);
  place.sin_addr.s_addr = peer;
  socklen_t size = sizeof place;
  bool const good =
      ::connect(probe, reinterpret_cast<sockaddr const*>(&place), sizeof place) == 0 &&
      ::getsockname(probe, reinterpret_cast<sockaddr*>(&place), &size) == 0;
  ::close(probe);
  return good ? place.sin_addr.s_addr : 0;
}

}  // namespace

HostAddress address_towards(std::span<Interface const> own, std::span<HostAddress const> others,
                            SourceTowards const& source_towards) {
  auto const is_own = [&](HostAddress address) {
    return std::any_of(own.begin(), own.end(),
                       [&](Interface const& one) { return one.address == address; });
  };
  for (auto const other : others)
    for (auto const& one : own)
      if (!is_own(other) && (other & one.mask) == (one.address & one.mask)) return one.address;
  for (auto const other : others)
    if (!is_own(other))
      if (auto const source = source_towards(other)) return source;
  auto const shared = std::find_if(others.begin(), others.end(), is_own);
  return shared == others.end() ? 0 : *shared;
}

HostAddress address_among_hosts(Bootstrap& bootstrap) {
  constexpr std::size_t most_interfaces = 4;
  auto const own = interfaces();
  std::array<std::int64_t, most_interfaces> told{};
  if (bootstrap.self() == ProcessId{0})
    std::transform(own.begin(), own.begin() + std::min(std::ssize(own), std::ssize(told)),
                   told.begin(),
                   [](Interface const& one) { return static_cast<std::int64_t>(one.address); });
  bootstrap.max_of_each(told);
  std::vector<HostAddress> of_first;
  for (auto const address : told)
    if (address != 0) of_first.push_back(static_cast<HostAddress>(address));
  bool const is_beside_first = bootstrap.host() == 0;
  auto const chosen = is_beside_first ? 0 : address_towards(own, of_first, source_towards);
  auto const other = static_cast<HostAddress>(bootstrap.max_of(static_cast<std::int64_t>(chosen)));
  if (!is_beside_first) return chosen;
  return other == 0 ? 0 : address_towards(own, std::span(&other, 1), source_towards);
}

}  // namespace tessera
