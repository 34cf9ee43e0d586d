#pragma once
/// @file
/// By which of its addresses other hosts reach this one.

#include <bit>
#include <cstdint>

#include "tessera/transport/bootstrap.hpp"

namespace tessera {

/// An IPv4 address in the order of the network; 0 is none.
using HostAddress = std::uint32_t;

/// 127.0.0.1, by which no other host is reached.
inline constexpr HostAddress loopback_address =
    std::endian::native == std::endian::little ? 0x0100007f : 0x7f000001;

/// This host's address in the network that it most likely shares with the others: one in which
/// process 0, or another host for those beside it, has an address too. Only a guess: whether
/// anything gets through shows when it is used. A collective over the job.
[[nodiscard]] HostAddress address_among_hosts(Bootstrap& bootstrap);

}  // namespace tessera
