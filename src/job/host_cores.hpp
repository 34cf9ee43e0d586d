#pragma once
/// @file
/// Whether the threads of a host have a core each.

#include <array>
#include <cstdint>

#include "src/job/bootstrap.hpp"

namespace tessera {

/// The cores that a process finds.
struct ProcessCores {
  /// A bit for each core of the host that it may run on; none if the host has more than fit.
  std::array<std::uint64_t, 16> mask{};
  std::int64_t usable = 0;  ///< of those, by a quota
};
/// Those of this process. Ranks: local.
[[nodiscard]] ProcessCores process_cores();

/// True if every thread of this host's processes that waits for others can have a core to itself:
/// one for a process of a single device, else one for each device and one for the caller. Ranks:
/// collective over the host.
[[nodiscard]] bool every_thread_has_a_core(Bootstrap& bootstrap, std::int64_t local_devices,
                                           ProcessCores const& own);

}  // namespace tessera
