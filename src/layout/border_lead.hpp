#pragma once
/// @file
/// How the borders of two extents lie beside each other.

#include <cstdint>
#include <optional>

#include "tessera/layout/cut.hpp"

namespace tessera {

/// An extent, how it is cut, and how often each of its cells counts.
struct ScaledCut {
  Cut cut = Cut::balanced();
  std::int64_t extent = 0;
  std::int64_t scale = 1;
  friend bool operator==(ScaledCut const&, ScaledCut const&) = default;
};

/// The most by which borders of `a` lead those of `b`: the largest a.scale · a_k - b.scale · b_k
/// over the numbers k in `borders`, where piece k of each begins at a_k and b_k if both are cut
/// `ways` ways; border `ways` is the end. Nothing if an extent times its scale exceeds 2^62; and,
/// unless `a` and `b` are equal, nothing where a rule may give a way several pieces, or where one
/// lists its cells and the other is not the same list.
///
/// Cost: O(1); O(log) for lists.
///
/// Example: 9 cells cut 4 ways begin at 0 3 5 7, and 5 cells at 0 2 3 4. So 5 cells that count
/// twice lead 9 cells by 0 1 1 1.
[[nodiscard]] std::optional<std::int64_t> border_lead(ScaledCut const& a, ScaledCut const& b,
                                                      std::int64_t ways, Piece const& borders);

}  // namespace tessera
