#pragma once
/// @file
/// The innermost loops of a product: a tile of cells, whose sums stay in registers over a block of
/// terms.
///
/// Each vector lane computes one cell, and lanes are never combined. So the bits do not depend on
/// the width of the vectors that the compiler chooses for these loops.

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "src/kernels/products/multiply_add.hpp"

namespace tessera {

/// Where a tile reads its start values and where it writes its cells. Strides between rows are in
/// elements; the cells of a row are contiguous.
template <class Cell>
struct TileCells {
  Cell const* from;
  std::int64_t from_row_stride;
  Cell* to;
  std::int64_t to_row_stride;
};

/// A tile of real numbers or integers.
///
/// A panel of a holds `tile_rows` rows: for each term, the numbers of all its rows are contiguous.
/// A panel of b holds `tile_columns` columns likewise. So the loop over terms reads both in order.
template <class T, std::size_t tile_rows, std::size_t tile_columns>
struct RealTile {
  using Cell = T;
  using Number = T;  ///< the type of a panel's elements
  static constexpr std::int64_t rows = tile_rows;
  static constexpr std::int64_t columns = tile_columns;
  static constexpr std::int64_t numbers_per_cell = 1;

  [[gnu::always_inline]] static void run(std::int64_t terms, T const* __restrict a,
                                         T const* __restrict b, TileCells<T> cells) {
    T sums[tile_rows][tile_columns];
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) sums[i][j] = 0;
    for (std::int64_t k = 0; k < terms; ++k, a += rows, b += columns) {
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < rows; ++i) {
        T const x = a[i];
#pragma GCC unroll 1
        for (std::int64_t j = 0; j < columns; ++j) sums[i][j] = multiply_add(x, b[j], sums[i][j]);
      }
    }
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < rows; ++i) {
      auto const* const from = cells.from + i * cells.from_row_stride;
      auto* const to = cells.to + i * cells.to_row_stride;
#pragma GCC unroll 1
      for (std::int64_t j = 0; j < columns; ++j) to[j] = static_cast<T>(from[j] + sums[i][j]);
    }
  }
};

/// A tile of complex numbers. For each term, a panel holds the real, then the imaginary parts.
template <class T, std::size_t tile_rows, std::size_t tile_columns>
struct ComplexTile {
  using Cell = std::complex<T>;
  using Number = T;
  static constexpr std::int64_t rows = tile_rows;
  static constexpr std::int64_t columns = tile_columns;
  static constexpr std::int64_t numbers_per_cell = 2;

  [[gnu::always_inline]] static void run(std::int64_t terms, T const* __restrict a,
                                         T const* __restrict b, TileCells<Cell> cells) {
    T real[tile_rows][tile_columns];
    T imaginary[tile_rows][tile_columns];
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) real[i][j] = imaginary[i][j] = 0;
    for (std::int64_t k = 0; k < terms; ++k, a += 2 * rows, b += 2 * columns) {
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < rows; ++i) {
        T const re = a[i];
        T const im = a[rows + i];
#pragma GCC unroll 1
        for (std::int64_t j = 0; j < columns; ++j)
          real[i][j] = std::fma(im, -b[columns + j], std::fma(re, b[j], real[i][j]));
#pragma GCC unroll 1
        for (std::int64_t j = 0; j < columns; ++j)
          imaginary[i][j] = std::fma(im, b[j], std::fma(re, b[columns + j], imaginary[i][j]));
      }
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        auto const from = cells.from[i * cells.from_row_stride + j];
        cells.to[i * cells.to_row_stride + j] = {from.real() + real[i][j],
                                                 from.imag() + imaginary[i][j]};
      }
  }
};

}  // namespace tessera
