#pragma once
/// @file
/// Finds the address by which other hosts reach this one.

#include <bit>
#include <cstdint>
#include <functional>
#include <span>

#include "src/job/bootstrap.hpp"

namespace tessera {

/// An IPv4 address in the order of the network; 0 is none.
using HostAddress = std::uint32_t;

/// 127.0.0.1, by which no other host is reached.
inline constexpr HostAddress loopback_address =
    std::endian::native == std::endian::little ? 0x0100007f : 0x7f000001;

/// An address of a host and the network it is in.
struct Interface {
  HostAddress address = 0;
  HostAddress mask = 0;
};
/// The address that the system would send from to another one; 0 if it cannot.
using SourceTowards = std::function<HostAddress(HostAddress other)>;

/// Which of a host's interfaces, the loopback last, shares a network with one of `others`, best
/// first; else the address from which the system reaches one of them. An address that both hosts
/// have is that of a network inside each, and chosen only where there is no other; 0 if nothing is.
[[nodiscard]] HostAddress address_towards(std::span<Interface const> own,
                                          std::span<HostAddress const> others,
                                          SourceTowards const& source_towards);

/// This host's address in the network that it most likely shares with the others: one in which
/// process 0, or another host for those beside it, has an address too. This is only a guess: use
/// shows whether it works. A collective over the job.
[[nodiscard]] HostAddress address_among_hosts(Bootstrap& bootstrap);

}  // namespace tessera
