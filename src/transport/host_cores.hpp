#pragma once
/// @file
/// Whether the threads of a host have a core each.

#include <cstdint>

#include "tessera/transport/bootstrap.hpp"

namespace tessera {

/// True if every thread of this host's processes that waits for others can have a core to itself:
/// one for a process of a single device, else one for each device and one for the caller. Ranks:
/// collective over the host.
[[nodiscard]] bool every_thread_has_a_core(Bootstrap& bootstrap, std::int64_t local_devices);

}  // namespace tessera
