#pragma once
/// @file
/// Products with one or two rows, or one or two columns: each number of the other operand is used
/// only once or twice, so packing would not pay.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "src/kernels/products/multiply_add.hpp"
#include "src/kernels/products/offsets.hpp"
#include "src/kernels/products/product.hpp"

namespace tessera {

/// Upper bound of the rows or columns of a thin product.
inline constexpr std::int64_t most_thin_lines = 2;

/// True if neighbouring indices are neighbours in an operand's memory.
[[nodiscard]] inline bool are_contiguous(ProductDimensions const& all,
                                         std::int64_t ProductDimension::*operand) {
  return all.count == 1 && all.dimensions[0].*operand == 1;
}
/// True if there are at most two rows, and the rows of b are contiguous.
[[nodiscard]] inline bool has_thin_rows(Product const& product) {
  return product.rows.size() <= most_thin_lines &&
         are_contiguous(product.columns, &ProductDimension::b);
}
/// True if there are at most two columns, and the rows of a are contiguous.
[[nodiscard]] inline bool has_thin_columns(Product const& product) {
  return product.columns.size() <= most_thin_lines &&
         are_contiguous(product.terms, &ProductDimension::a);
}
/// True if a product has terms, and thin rows or thin columns.
[[nodiscard]] inline bool is_thin(Product const& product) {
  return product.terms.size() > 0 && (has_thin_rows(product) || has_thin_columns(product));
}

/// Sums a block of terms for the cells of one row. The rows of b are contiguous.
struct ThinRow {
  /// For each term k, a[k] is the factor and b[k] points to the first of its cells in b.
  template <class T>
  [[gnu::always_inline]] static void run(std::int64_t terms, T const* __restrict a,
                                         T const* const* b, std::int64_t columns,
                                         T* __restrict sums) {
    for (std::int64_t j = 0; j < columns; ++j) sums[j] = 0;
    std::int64_t k = 0;
    // Takes four terms at a time, so that sums are loaded and stored once for the four.
    for (; k + 4 <= terms; k += 4) {
      T const x0 = a[k], x1 = a[k + 1], x2 = a[k + 2], x3 = a[k + 3];
      auto const *const b0 = b[k], *const b1 = b[k + 1], *const b2 = b[k + 2], *const b3 = b[k + 3];
      for (std::int64_t j = 0; j < columns; ++j)
        sums[j] = multiply_add(
            x3, b3[j],
            multiply_add(x2, b2[j], multiply_add(x1, b1[j], multiply_add(x0, b0[j], sums[j]))));
    }
    for (; k < terms; ++k)
      for (std::int64_t j = 0; j < columns; ++j) sums[j] = multiply_add(a[k], b[k][j], sums[j]);
  }
};

/// Sums a block of terms for the cells of one column, `rows` rows at a time. Each row is a chain of
/// dependent fma; eight independent chains hide their latency. The rows of a are contiguous.
struct ThinColumn {
  static constexpr std::size_t rows = 8;

  template <class T>
  [[gnu::always_inline]] static void run(std::int64_t terms, T const* const* a,
                                         T const* __restrict b, T* __restrict sums) {
    auto const *const a0 = a[0], *const a1 = a[1], *const a2 = a[2], *const a3 = a[3];
    auto const *const a4 = a[4], *const a5 = a[5], *const a6 = a[6], *const a7 = a[7];
    T s0{}, s1{}, s2{}, s3{}, s4{}, s5{}, s6{}, s7{};
    for (std::int64_t k = 0; k < terms; ++k) {
      T const x = b[k];
      s0 = multiply_add(a0[k], x, s0);
      s1 = multiply_add(a1[k], x, s1);
      s2 = multiply_add(a2[k], x, s2);
      s3 = multiply_add(a3[k], x, s3);
      s4 = multiply_add(a4[k], x, s4);
      s5 = multiply_add(a5[k], x, s5);
      s6 = multiply_add(a6[k], x, s6);
      s7 = multiply_add(a7[k], x, s7);
    }
    T const all[rows] = {s0, s1, s2, s3, s4, s5, s6, s7};
    std::copy_n(all, rows, sums);
  }
};

/// Computes thin products of real numbers and integers. Processor::run<F> calls F::run.
template <class Processor, class T>
class ThinMultiplier {
 public:
  /// Requires is_thin(product).
  static void multiply(Product const& product) {
    std::int64_t at = 0;
    for (std::int64_t batch = 0; batch < product.batch.size(); ++batch) {
      auto const batch_offset = [&](std::int64_t ProductDimension::*operand) {
        return offsets_of(product.batch, batch, 1, operand, &at).at[0];
      };
      ThinMultiplier multiplier(product);
      multiplier.a_ = static_cast<T const*>(product.a) + batch_offset(&ProductDimension::a);
      multiplier.b_ = static_cast<T const*>(product.b) + batch_offset(&ProductDimension::b);
      multiplier.c_ = static_cast<T*>(product.c) + batch_offset(&ProductDimension::c);
      if (product.start != nullptr)
        multiplier.start_ =
            static_cast<T const*>(product.start) + batch_offset(&ProductDimension::start);
      multiplier.run();
    }
  }

 private:
  static constexpr std::int64_t most_columns = 1024;
  static constexpr auto thin_rows = static_cast<std::int64_t>(ThinColumn::rows);
  using Block = std::array<T, static_cast<std::size_t>(block_of_terms)>;

  explicit ThinMultiplier(Product const& product) : product_(product) {}

  [[nodiscard]] static std::int64_t offset(ProductDimensions const& all, std::int64_t i,
                                           std::int64_t ProductDimension::*operand) {
    if (all.count == 0) return 0;
    if (all.count == 1) return i * all.dimensions[0].*operand;
    std::int64_t at = 0;
    return offsets_of(all, i, 1, operand, &at).at[0];
  }

  void run() {
    auto const terms = product_.terms.size();
    auto const columns = product_.columns.size(), rows = product_.rows.size();
    if (!has_thin_rows(product_)) {
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; i += thin_rows) {
          compute_cells(i, j);
          if (i % (16 * thin_rows) == 0) product_.pause();
        }
      return;
    }
    for (std::int64_t first = 0; first < terms; first += block_of_terms) {
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; j += most_columns)
          add_row(first, i, j, std::min(most_columns, columns - j));
      product_.pause();
    }
  }

  [[nodiscard]] std::int64_t block_size(std::int64_t first) const {
    return std::min(block_of_terms, product_.terms.size() - first);
  }
  [[nodiscard]] T& cell(std::int64_t i, std::int64_t j) {
    return c_[offset(product_.rows, i, &ProductDimension::c) +
              offset(product_.columns, j, &ProductDimension::c)];
  }
  [[nodiscard]] T start(std::int64_t i, std::int64_t j) const {
    if (start_ == nullptr) return T{};
    return start_[offset(product_.rows, i, &ProductDimension::start) +
                  offset(product_.columns, j, &ProductDimension::start)];
  }

  // The numbers of a block of terms as a contiguous range: in place if possible, else copied to
  // `into`.
  [[nodiscard]] T const* terms_of(T const* from, std::int64_t first,
                                  std::int64_t ProductDimension::*operand, Block& into) const {
    if (are_contiguous(product_.terms, operand)) return from + first;
    std::int64_t at[static_cast<std::size_t>(block_of_terms)];
    auto const offsets = offsets_of(product_.terms, first, block_size(first), operand, at);
    for (std::int64_t k = 0; k < offsets.count; ++k)
      into[static_cast<std::size_t>(k)] = from[offsets.at[k]];
    return into.data();
  }

  // Adds the block of terms from `first` to `columns` cells of row i, from column j on.
  void add_row(std::int64_t first, std::int64_t i, std::int64_t j, std::int64_t columns) {
    Block numbers;
    auto const* const a = terms_of(a_ + offset(product_.rows, i, &ProductDimension::a), first,
                                   &ProductDimension::a, numbers);
    auto const count = block_size(first);
    std::int64_t at[static_cast<std::size_t>(block_of_terms)];
    auto const offsets = offsets_of(product_.terms, first, count, &ProductDimension::b, at);
    T const* b[static_cast<std::size_t>(block_of_terms)];
    for (std::int64_t k = 0; k < count; ++k) b[k] = b_ + offsets.at[k] + j;
    T sums[static_cast<std::size_t>(most_columns)];
    Processor::template run<ThinRow>(count, a, static_cast<T const* const*>(b), columns,
                                     static_cast<T*>(sums));
    for (std::int64_t k = 0; k < columns; ++k) {
      auto& target = cell(i, j + k);
      target = static_cast<T>((first == 0 ? start(i, j + k) : target) + sums[k]);
    }
  }

  // Computes up to thin_rows cells of column j, from row i on, over all terms. So each row of a is
  // read from front to back.
  void compute_cells(std::int64_t i, std::int64_t j) {
    auto const row_count = std::min(thin_rows, product_.rows.size() - i);
    auto const* const column = b_ + offset(product_.columns, j, &ProductDimension::b);
    T cells[ThinColumn::rows];
    T const* rows[ThinColumn::rows];
    for (std::int64_t r = 0; r < thin_rows; ++r) {
      auto const row = i + std::min(r, row_count - 1);  // repeats the last row
      cells[r] = start(row, j);
      rows[r] = a_ + offset(product_.rows, row, &ProductDimension::a);
    }
    Block numbers;
    for (std::int64_t first = 0; first < product_.terms.size(); first += block_of_terms) {
      auto const* const b = terms_of(column, first, &ProductDimension::b, numbers);
      T sums[ThinColumn::rows];
      Processor::template run<ThinColumn>(block_size(first), static_cast<T const* const*>(rows), b,
                                          static_cast<T*>(sums));
      for (std::int64_t r = 0; r < thin_rows; ++r) {
        cells[r] = static_cast<T>(cells[r] + sums[r]);
        rows[r] += block_size(first);
      }
    }
    for (std::int64_t r = 0; r < row_count; ++r) cell(i + r, j) = cells[r];
  }

  Product const& product_;
  T const* a_ = nullptr;
  T const* b_ = nullptr;
  T const* start_ = nullptr;
  T* c_ = nullptr;
};

}  // namespace tessera
