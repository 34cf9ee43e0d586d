#pragma once
/// @file
/// Random slices that lie beside each other, for random loops and statements.

#include <algorithm>
#include <cstdint>

#include "tessera/index/range.hpp"

#include "support/layouts.hpp"

namespace tessera::test {

/// Cells along one dimension of an array that is written, and of two that are read.
struct Neighbours {
  Range written, one, other;
};

/// As many cells each, at most two apart, all inside `extent` cells.
inline Neighbours random_neighbours(Random& random, std::int64_t extent) {
  std::int64_t const reach = random.between(0, 2);
  auto const lo = std::min(extent, reach + random.between(0, 1) * random.between(0, 2));
  auto const hi = std::max(lo, extent - reach - random.between(0, 1) * random.between(0, 2));
  auto const step = random.between(0, 3) == 0 ? 2 : 1;
  auto const at = [&](std::int64_t by) { return range(lo + by, hi + by, step); };
  Neighbours result{at(0), at(random.between(-reach, reach)), at(random.between(-reach, reach))};
  // A range must not run past the ends, where it would be cut off.
  if (lo + reach > extent || lo - reach < 0 || hi + reach > extent || hi < lo)
    result.one = result.other = result.written;
  return result;
}

}  // namespace tessera::test
