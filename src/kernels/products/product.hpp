#pragma once
/// @file
/// Products of matrices, and of anything that is one for suitable strides.
///
/// A cell's value is one fixed sequence of operations, whatever tile or vector computes it:
///
///     cell = start                                   // 0 without a start
///     for each block of 256 terms, counted from 0:
///       sum = +0
///       for each term k of the block: sum = fma(a(row, k), b(k, column), sum)
///       cell = cell + sum
///
/// So its bits depend on its row of a and its column of b alone. Complex numbers take two steps of
/// each part for each term: the real part fma(a.re, b.re, sum), then fma(-a.im, b.im, sum); the
/// imaginary part fma(a.re, b.im, sum), then fma(a.im, b.re, sum). Source of the blocks: Goto & van
/// de Geijn, Anatomy of High-Performance Matrix Multiplication (2008).

#include <array>
#include <cstddef>
#include <cstdint>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/products/product_type.hpp"

namespace tessera {

using detail::ProductType;
[[nodiscard]] std::int64_t bytes_of(ProductType type);

/// The terms whose sum is rounded on its own.
inline constexpr std::int64_t block_of_terms = 256;

/// The most dimensions of a product, of all kinds together.
inline constexpr std::size_t most_product_dimensions = 8;

/// One dimension of a product. One index further moves each operand by so many elements.
struct ProductDimension {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t start = 0;
  std::int64_t c = 0;
};

/// Dimensions that are walked together in row-major order, the last one fastest.
struct ProductDimensions {
  std::size_t count = 0;
  std::array<ProductDimension, most_product_dimensions> dimensions{};

  void push_back(ProductDimension const& dimension) { dimensions[count++] = dimension; }
  [[nodiscard]] TESSERA_FUNCTION std::int64_t size() const {
    std::int64_t size = 1;
    for (std::size_t d = 0; d < count; ++d) size *= dimensions[d].extent;
    return size;
  }
  /// Makes one dimension of two that follow each other in all operands, and drops those of one
  /// index.
  void merge();
};

/// c(batch, row, column) = start(batch, row, column) + sum over terms of a(batch, row, term) *
/// b(batch, term, column). Addresses are those of the first cells.
struct Product {
  ProductDimensions batch;
  ProductDimensions rows;     ///< a and c move
  ProductDimensions columns;  ///< b and c move
  ProductDimensions terms;    ///< a and b move
  void const* a = nullptr;
  void const* b = nullptr;
  void const* start = nullptr;  ///< null: zeros. May be c's own memory, cell by cell
  void* c = nullptr;
};

/// The same with as few dimensions as possible.
[[nodiscard]] Product merged(Product const& product);

/// Computes a product. Without terms, c is the start.
/// Threads: any; a thread's first call allocates the memory that its later ones use again.
void multiply(ProductType type, Product const& product);

}  // namespace tessera
