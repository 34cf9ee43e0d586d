#pragma once
/// @file
/// What lies past an edge, by walking back and forth: the slow way.

#include <cstdint>

#include "src/plan/access.hpp"

#include "support/brute_force.hpp"

namespace tessera::test {

/// Any boundary but a periodic one, which takes both ends.
inline BoundaryKind random_end(Random& random) {
  switch (random.between(0, 3)) {
    case 0:
      return BoundaryKind::constant;
    case 1:
      return BoundaryKind::edge;
    case 2:
      return BoundaryKind::reflect;
    default:
      return BoundaryKind::symmetric;
  }
}

/// The position among `count` that `position` shows in a mirror at each end.
inline std::int64_t mirrored(std::int64_t position, std::int64_t count, BoundaryKind kind) {
  if (count == 1) return 0;
  auto const is_repeated = kind == BoundaryKind::symmetric ? 1 : 0;
  while (position < 0 || position >= count)
    position = position < 0 ? -position - is_repeated : 2 * count - 2 + is_repeated - position;
  return position;
}

}  // namespace tessera::test
