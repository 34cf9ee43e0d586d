#pragma once
/// @file
/// How large the data caches of a core are.

#include <cstdint>
#include <filesystem>

namespace tessera {

/// What a core can count on, in bytes.
struct Caches {
  std::int64_t nearest = 0;  ///< the first cache
  std::int64_t second = 0;   ///< of the second one, a core's part where several share it

  friend bool operator==(Caches const&, Caches const&) = default;
};

/// Of the first core that this thread may run on; the usual sizes where the system does not tell.
/// Ranks: local. Cost: reads some small files; call it once.
[[nodiscard]] Caches core_caches();

namespace detail {

/// As Linux describes a core's caches in a folder (/sys/devices/system/cpu/cpu0/cache); 0 for what
/// it does not. Threads of a core share its first cache and count as one.
[[nodiscard]] Caches caches_under(std::filesystem::path const& folder);

}  // namespace detail
}  // namespace tessera
