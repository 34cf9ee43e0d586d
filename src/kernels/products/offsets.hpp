#pragma once
/// @file
/// Where the cells of a run of rows, columns or terms lie.

#include <cstdint>

#include "src/kernels/products/product.hpp"

namespace tessera {

/// Offsets in elements, in memory of the caller's.
struct Offsets {
  std::int64_t const* at = nullptr;
  std::int64_t count = 0;
  bool is_even = true;    ///< each is `step` more than the one before
  std::int64_t step = 1;  ///< between the first two

  [[nodiscard]] bool follow_each_other() const { return is_even && (step == 1 || count == 1); }
};

/// The offsets of indices [first, first + count) of some dimensions in one of the operands, as
/// &ProductDimension::a. Writes them to `into`.
[[nodiscard]] Offsets offsets_of(ProductDimensions const& dimensions, std::int64_t first,
                                 std::int64_t count, std::int64_t ProductDimension::*operand,
                                 std::int64_t* into);

}  // namespace tessera
