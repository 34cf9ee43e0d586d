#pragma once
/// @file
/// Cells and shapes: up to eight whole numbers, in place.

#include <cstdint>

#include "tessera/detail/base/inline_vector.hpp"

namespace tessera {

/// The most dimensions an array may have.
inline constexpr std::size_t max_rank = 8;

/// One number per dimension: a cell, a shift or a list of extents.
using Index = detail::InlineVector<std::int64_t, max_rank>;

/// The extents of an array; each zero or more.
using Shape = Index;

/// How many cells a shape has: 1 for no dimensions, 0 if any extent is 0.
[[nodiscard]] std::int64_t cells_of(Shape const& shape);

/// a modulo b with the sign of b, which is not 0: the remainder of Python.
[[nodiscard]] constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  auto const remainder = a % b;
  return remainder != 0 && (a < 0) != (b < 0) ? remainder + b : remainder;
}

}  // namespace tessera
