#pragma once
/// @file
/// Boxes of cells, and what two of them have in common.

#include "tessera/index/index.hpp"

#include "src/index/index.hpp"

namespace tessera {

/// The cells in both.
[[nodiscard]] Box intersect(Box const& a, Box const& b);
/// True if a cell is in both.
[[nodiscard]] bool intersects(Box const& a, Box const& b);
/// The smallest box that holds both; an empty box adds nothing.
[[nodiscard]] Box hull(Box const& a, Box const& b);
/// The box grown by `below[d]` and `above[d]` cells along each dimension d.
[[nodiscard]] Box grown(Box const& box, Index const& below, Index const& above);

}  // namespace tessera
