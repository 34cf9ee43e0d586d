#pragma once
/// @file
/// Asks the system how large the data caches of a core are.

#include <filesystem>

#include "tessera/plan/caches.hpp"

namespace tessera {

/// The caches of the first core that this thread may run on; typical sizes if the system does not
/// report them.
/// Ranks: local. Cost: reads some small files; call it once.
[[nodiscard]] Caches core_caches();

namespace detail {

/// The caches of a core as Linux describes them in a folder (/sys/devices/system/cpu/cpu0/cache); 0
/// for missing entries. Threads of a core share its first cache and count as one.
[[nodiscard]] Caches caches_under(std::filesystem::path const& folder);

}  // namespace detail
}  // namespace tessera
