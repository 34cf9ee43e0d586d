#pragma once
/// @file
/// Arithmetic on shapes and cells.

#include <cstddef>
#include <cstdint>

#include "tessera/index/index.hpp"

namespace tessera::detail {

/// The distance between neighbours along each dimension of a dense row-major array, in cells.
[[nodiscard]] Index row_major_strides(Shape const& shape);

/// Throws: ShapeError if an extent is negative, there are more than eight, or the cells exceed
/// 2^62.
void check_shape(Shape const& shape);

/// Throws: ShapeError also unless there are `rank` dimensions.
void check_shape(Shape const& shape, std::size_t rank);

/// a / b rounded down, for any signs; b is not 0.
[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  auto const quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// a / b rounded up, for any signs; b is not 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return -floor_div(-a, b);
}

/// An integer index by Python's rules: negative counts from the end.
/// Throws: IndexError if it lies outside; `dimension` names it.
[[nodiscard]] std::int64_t resolve_index(std::int64_t index, std::int64_t extent,
                                         std::size_t dimension);

}  // namespace tessera::detail
