#pragma once
/// @file
/// Memory offsets of a range of rows, columns or terms.

#include <cstdint>

#include "src/kernels/products/product.hpp"

namespace tessera {

/// `count` offsets in elements.
/// Lifetime: the offsets lie in the caller's memory.
struct Offsets {
  std::int64_t const* at = nullptr;
  std::int64_t count = 0;
  bool is_equally_spaced = true;  ///< each is `stride` more than the previous one
  std::int64_t stride = 1;        ///< the second offset minus the first; 1 if there is one only

  [[nodiscard]] bool is_contiguous() const {
    return is_equally_spaced && (stride == 1 || count == 1);
  }
};

/// Computes the offsets of the row-major indices [first, first + count) of some dimensions in one
/// operand, chosen by a member such as &ProductDimension::a. Writes them to `into`.
[[nodiscard]] Offsets offsets_of(ProductDimensions const& dimensions, std::int64_t first,
                                 std::int64_t count, std::int64_t ProductDimension::*operand,
                                 std::int64_t* into);

}  // namespace tessera
