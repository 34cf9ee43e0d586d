#pragma once
/// @file
/// Products on GPUs: each thread computes one tile of cells at a time, with the values that
/// product.hpp defines. The host can run the same code; tests use that.

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tessera/base/half.hpp"
#include "tessera/detail/base/function.hpp"

#include "src/kernels/products/multiply_add.hpp"
#include "src/kernels/products/product.hpp"

namespace tessera {

/// A complex number, with the memory layout of std::complex<T>.
template <class T>
struct RealPair {
  T real, imaginary;
};

/// Arithmetic for cells that are stored as T and summed as S.
template <class T, class S = T>
struct GpuReal {
  using Stored = T;
  using Sum = S;
  TESSERA_FUNCTION static S load(T x) { return static_cast<S>(x); }
  TESSERA_FUNCTION static T store(S x) { return static_cast<T>(x); }
  TESSERA_FUNCTION static S add(S a, S b) { return static_cast<S>(a + b); }
  TESSERA_FUNCTION static S add_product(S a, S b, S sum) { return multiply_add(a, b, sum); }
};
/// The same for complex cells, which are stored and summed as pairs of T.
template <class T>
struct GpuComplex {
  using Stored = RealPair<T>;
  using Sum = RealPair<T>;
  TESSERA_FUNCTION static Sum load(Stored x) { return x; }
  TESSERA_FUNCTION static Stored store(Sum x) { return x; }
  TESSERA_FUNCTION static Sum add(Sum a, Sum b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
  TESSERA_FUNCTION static Sum add_product(Sum a, Sum b, Sum sum) {
    return {std::fma(-a.imaginary, b.imaginary, std::fma(a.real, b.real, sum.real)),
            std::fma(a.imaginary, b.real, std::fma(a.real, b.imaginary, sum.imaginary))};
  }
};

/// The size of the tile that a thread computes at a time, in cells.
inline constexpr std::int64_t gpu_tile_rows = 4;
inline constexpr std::int64_t gpu_tile_columns = 4;

/// The number of such tiles in a product, over all batches.
[[nodiscard]] std::int64_t gpu_tiles(Product const& product);

/// Offsets into the operands and the result, in elements.
struct ProductOffsets {
  std::int64_t a = 0, b = 0, start = 0, c = 0;
};
/// The offsets of row-major index `index` of some dimensions.
TESSERA_FUNCTION inline ProductOffsets offsets_at(ProductDimensions const& all,
                                                  std::int64_t index) {
  ProductOffsets result;
  for (std::size_t d = all.count; d-- > 0;) {
    auto const& dimension = all.dimensions[d];
    auto const at = d == 0 ? index : index % dimension.extent;
    index = d == 0 ? 0 : index / dimension.extent;
    result.a += at * dimension.a;
    result.b += at * dimension.b;
    result.start += at * dimension.start;
    result.c += at * dimension.c;
  }
  return result;
}

/// Computes tile `number` of a product; tiles are numbered in row-major order, batch by batch.
///
/// A tile at an edge may reach past the last row or column. It then computes the last one
/// repeatedly, and writes it once.
template <class Cells>
class GpuTile {
 public:
  TESSERA_FUNCTION GpuTile(Product const& product, std::int64_t number) : product_(product) {
    auto const columns = product.columns.size(), rows = product.rows.size();
    auto const tiles_across = (columns + gpu_tile_columns - 1) / gpu_tile_columns;
    auto const tiles_down = (rows + gpu_tile_rows - 1) / gpu_tile_rows;
    batch_ = offsets_at(product.batch, number / (tiles_across * tiles_down));
    auto const first_row = number / tiles_across % tiles_down * gpu_tile_rows;
    auto const first_column = number % tiles_across * gpu_tile_columns;
    valid_rows_ = rows - first_row < gpu_tile_rows ? rows - first_row : gpu_tile_rows;
    valid_columns_ =
        columns - first_column < gpu_tile_columns ? columns - first_column : gpu_tile_columns;
    for (std::int64_t i = 0; i < gpu_tile_rows; ++i)
      rows_[i] = offsets_at(product.rows, first_row + (i < valid_rows_ ? i : valid_rows_ - 1));
    for (std::int64_t j = 0; j < gpu_tile_columns; ++j)
      columns_[j] =
          offsets_at(product.columns, first_column + (j < valid_columns_ ? j : valid_columns_ - 1));
  }

  TESSERA_FUNCTION void run() {
    auto const terms = product_.terms.size();
    Sum cells[gpu_tile_rows][gpu_tile_columns];
    for (std::int64_t i = 0; i < gpu_tile_rows; ++i)
      for (std::int64_t j = 0; j < gpu_tile_columns; ++j) cells[i][j] = start(i, j);
    for (std::int64_t first = 0; first < terms; first += block_of_terms)
      add_block(first, terms - first < block_of_terms ? terms : first + block_of_terms, cells);
    auto* const c = static_cast<Stored*>(product_.c) + batch_.c;
    for (std::int64_t i = 0; i < valid_rows_; ++i)
      for (std::int64_t j = 0; j < valid_columns_; ++j)
        c[rows_[i].c + columns_[j].c] = Cells::store(cells[i][j]);
  }

 private:
  using Stored = typename Cells::Stored;
  using Sum = typename Cells::Sum;

  [[nodiscard]] TESSERA_FUNCTION Sum start(std::int64_t i, std::int64_t j) const {
    if (product_.start == nullptr) return Sum{};
    auto const* const from = static_cast<Stored const*>(product_.start) + batch_.start;
    return Cells::load(from[rows_[i].start + columns_[j].start]);
  }

  TESSERA_FUNCTION void add_block(std::int64_t first, std::int64_t end,
                                  Sum (&cells)[gpu_tile_rows][gpu_tile_columns]) const {
    auto const* const a = static_cast<Stored const*>(product_.a) + batch_.a;
    auto const* const b = static_cast<Stored const*>(product_.b) + batch_.b;
    Sum sums[gpu_tile_rows][gpu_tile_columns] = {};
    for (auto k = first; k < end; ++k) {
      auto const term = offsets_at(product_.terms, k);
      Sum row[gpu_tile_rows];
      for (std::int64_t i = 0; i < gpu_tile_rows; ++i) row[i] = Cells::load(a[rows_[i].a + term.a]);
      for (std::int64_t j = 0; j < gpu_tile_columns; ++j) {
        auto const column = Cells::load(b[columns_[j].b + term.b]);
        for (std::int64_t i = 0; i < gpu_tile_rows; ++i)
          sums[i][j] = Cells::add_product(row[i], column, sums[i][j]);
      }
    }
    for (std::int64_t i = 0; i < gpu_tile_rows; ++i)
      for (std::int64_t j = 0; j < gpu_tile_columns; ++j)
        cells[i][j] = Cells::add(cells[i][j], sums[i][j]);
  }

  Product const& product_;
  ProductOffsets batch_;
  ProductOffsets rows_[gpu_tile_rows];
  ProductOffsets columns_[gpu_tile_columns];
  std::int64_t valid_rows_ = 0, valid_columns_ = 0;
};

/// Calls use.operator()<Cells>() with the GpuReal or GpuComplex of a type, and returns its result.
template <class Use>
auto with_gpu_cells(ProductType type, Use const& use) {
  switch (type) {
    case ProductType::bits8:
      return use.template operator()<GpuReal<std::uint8_t>>();
    case ProductType::bits16:
      return use.template operator()<GpuReal<std::uint16_t>>();
    case ProductType::bits32:
      return use.template operator()<GpuReal<std::uint32_t>>();
    case ProductType::bits64:
      return use.template operator()<GpuReal<std::uint64_t>>();
    case ProductType::float16:
      return use.template operator()<GpuReal<float16, float>>();
    case ProductType::bfloat16:
      return use.template operator()<GpuReal<bfloat16, float>>();
    case ProductType::float32:
      return use.template operator()<GpuReal<float>>();
    case ProductType::float64:
      return use.template operator()<GpuReal<double>>();
    case ProductType::complex64:
      return use.template operator()<GpuComplex<float>>();
    case ProductType::complex128:
      break;
  }
  return use.template operator()<GpuComplex<double>>();
}

/// The stream that a product is launched on, and the size of its GPU.
struct GpuPlace {
  void* stream = nullptr;  ///< of the GPU's runtime, such as a cudaStream_t
  int multiprocessors = 1;
};
/// True if this build of the library has kernels for products on GPUs.
[[nodiscard]] bool has_gpu_products();
/// Launches a product whose addresses are in GPU memory, and returns without waiting for it.
/// Returns an error code of the GPU's runtime (0 on success); throws nothing.
[[nodiscard]] int launch_on_gpu(ProductType type, Product const& product, GpuPlace const& place);

}  // namespace tessera
