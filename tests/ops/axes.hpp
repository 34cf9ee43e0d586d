#pragma once
/// @file
/// What the tests of reductions over some dimensions have in common.

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/ops/reductions.hpp"

#include "support/arrays.hpp"

#include "oracle.hpp"

namespace tessera::test {

using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;

/// Calls check(u) with the mirror's cells in many layouts of a plane, also with fewer rows than
/// devices.
template <class T, class Check>
void in_each_layout(Mirror<T> const& plane, Check const& check) {
  auto layouts = layouts_of_plane(plane.shape[0], plane.shape[1]);
  layouts.push_back(over(8, 1));
  for (auto const& sharding : layouts) {
    CAPTURE(sharding);
    check(spread_out<T, 2>(plane, sharding));
  }
}

}  // namespace tessera::test
