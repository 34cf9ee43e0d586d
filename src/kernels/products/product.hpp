#pragma once
/// @file
/// Products of matrices, and of arrays that suitable strides make matrices.
///
/// A cell's value is one fixed sequence of operations, whichever tile or vector computes it:
///
///     cell = start                                   // 0 without a start
///     for each block of 256 terms, counted from 0:
///       sum = +0
///       for each term k of the block: sum = fma(a(row, k), b(k, column), sum)
///       cell = cell + sum
///
/// So a cell's bits depend only on its start, its row of a and its column of b. Complex numbers
/// take two fma per part and term: the real part fma(a.re, b.re, sum), then fma(-a.im, b.im, sum);
/// the imaginary part fma(a.re, b.im, sum), then fma(a.im, b.re, sum).
/// Source: Goto & van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008).

#include <array>
#include <cstddef>
#include <cstdint>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/products/product_type.hpp"

namespace tessera {

using detail::ProductType;
/// The size of a cell in memory, in bytes.
[[nodiscard]] std::int64_t bytes_of(ProductType type);

/// The number of terms in a block, whose sum is added to the cell as a whole.
inline constexpr std::int64_t block_of_terms = 256;

/// Upper bound of the batch, row, column and term dimensions of a product together.
inline constexpr std::size_t most_product_dimensions = 8;

/// One dimension of a product: its extent, and its stride in each operand, in elements.
struct ProductDimension {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t start = 0;
  std::int64_t c = 0;
};

/// Dimensions that are traversed in row-major order, the last one fastest.
struct ProductDimensions {
  std::size_t count = 0;
  std::array<ProductDimension, most_product_dimensions> dimensions{};

  void push_back(ProductDimension const& dimension) { dimensions[count++] = dimension; }
  [[nodiscard]] TESSERA_FUNCTION std::int64_t size() const {
    std::int64_t size = 1;
    for (std::size_t d = 0; d < count; ++d) size *= dimensions[d].extent;
    return size;
  }
  /// Merges neighbouring dimensions that one stride describes in all operands, and drops dimensions
  /// of extent 1.
  void merge();
};

/// What a product calls between blocks of terms and groups of rows, so that messages travel
/// meanwhile.
struct Pause {
  void (*call)(void* context) = nullptr;  ///< null: nothing to do
  void* context = nullptr;

  void operator()() const {
    if (call != nullptr) call(context);
  }
};

/// c(batch, row, column) = start(batch, row, column) + sum over terms of a(batch, row, term) *
/// b(batch, term, column). Each pointer is the address of its operand's first cell.
struct Product {
  ProductDimensions batch;
  ProductDimensions rows;     ///< with strides in a, start and c
  ProductDimensions columns;  ///< with strides in b, start and c
  ProductDimensions terms;    ///< with strides in a and b
  void const* a = nullptr;
  void const* b = nullptr;
  void const* start = nullptr;  ///< null: zeros. May be c itself, with the same strides
  void* c = nullptr;
  Pause pause{};
};

/// The same product with as few dimensions as possible.
[[nodiscard]] Product merged(Product const& product);

/// Computes a product. If there are no terms, c is the start.
/// Threads: any. A thread's first call allocates a buffer, which its later calls reuse.
void multiply(ProductType type, Product const& product);

}  // namespace tessera
