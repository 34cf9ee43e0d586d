#pragma once
/// @file
/// How large the data caches of a core are.

#include <cstdint>

namespace tessera {

/// The cache sizes that a core can rely on, in bytes.
struct Caches {
  std::int64_t nearest = 0;  ///< the first cache
  std::int64_t second = 0;   ///< of the second one, a core's part where several share it
  friend bool operator==(Caches const&, Caches const&) = default;
};

}  // namespace tessera
