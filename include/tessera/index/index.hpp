#pragma once
/// @file
/// Cells and shapes: up to eight whole numbers, in place.

#include <cstdint>

#include "tessera/base/inline_vector.hpp"

namespace tessera {

/// The most dimensions an array may have.
inline constexpr std::size_t max_rank = 8;

/// One number per dimension: a cell, a shift or a list of extents.
using Index = InlineVector<std::int64_t, max_rank>;

/// The extents of an array; each zero or more.
using Shape = Index;

/// How many cells a shape has: 1 for no dimensions, 0 if any extent is 0.
[[nodiscard]] std::int64_t cells_of(Shape const& shape);

/// The distance between neighbours along each dimension of a dense row-major array, in cells.
[[nodiscard]] Index row_major_strides(Shape const& shape);

/// Throws: ShapeError if an extent is negative, there are more than eight, or the cells exceed
/// 2^62.
void check_shape(Shape const& shape);

/// a / b rounded down, for any signs; b is not 0.
[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  auto const quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// a / b rounded up, for any signs; b is not 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return -floor_div(-a, b);
}

/// a modulo b with the sign of b.
[[nodiscard]] constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  return a - floor_div(a, b) * b;
}

}  // namespace tessera
