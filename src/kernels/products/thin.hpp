#pragma once
/// @file
/// Products with one or two rows, or columns: each number of the other operand is used once or
/// twice, so nothing is packed.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "src/kernels/products/multiply_add.hpp"
#include "src/kernels/products/offsets.hpp"
#include "src/kernels/products/product.hpp"

namespace tessera {

/// The most rows or columns of a thin product.
inline constexpr std::int64_t most_thin = 2;

[[nodiscard]] inline bool lie_side_by_side(ProductDimensions const& all,
                                           std::int64_t ProductDimension::*operand) {
  return all.count == 1 && all.dimensions[0].*operand == 1;
}
/// True if there are few rows, and the cells of b's rows lie side by side.
[[nodiscard]] inline bool has_thin_rows(Product const& product) {
  return product.rows.size() <= most_thin &&
         lie_side_by_side(product.columns, &ProductDimension::b);
}
/// True if there are few columns, and the terms of a's rows lie side by side.
[[nodiscard]] inline bool has_thin_columns(Product const& product) {
  return product.columns.size() <= most_thin &&
         lie_side_by_side(product.terms, &ProductDimension::a);
}
/// True of a product that has terms and one of these.
[[nodiscard]] inline bool is_thin(Product const& product) {
  return product.terms.size() > 0 && (has_thin_rows(product) || has_thin_columns(product));
}

/// The sums of a block of terms for cells of one row; cells of b lie side by side.
struct ThinRow {
  /// a has the numbers of the terms, b where their cells begin.
  template <class T>
  [[gnu::always_inline]] static void run(std::int64_t terms, T const* __restrict a,
                                         T const* const* b, std::int64_t columns,
                                         T* __restrict sums) {
    for (std::int64_t j = 0; j < columns; ++j) sums[j] = 0;
    std::int64_t k = 0;
    // Sums are read and written once for four terms.
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

/// The sums of a block of terms for cells of one column, several rows at a time: each is a chain of
/// its own, and so many chains keep the processor's multipliers busy. Terms of a lie side by side.
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

/// Thin products of real numbers and of integers. Processor::run<F> calls F::run.
template <class Processor, class T>
class ThinMultiplier {
 public:
  /// Of a thin product with terms.
  static void multiply(Product const& product) {
    std::int64_t at = 0;
    for (std::int64_t batch = 0; batch < product.batch.size(); ++batch) {
      auto const of_batch = [&](std::int64_t ProductDimension::*operand) {
        return offsets_of(product.batch, batch, 1, operand, &at).at[0];
      };
      ThinMultiplier one(product);
      one.a_ = static_cast<T const*>(product.a) + of_batch(&ProductDimension::a);
      one.b_ = static_cast<T const*>(product.b) + of_batch(&ProductDimension::b);
      one.c_ = static_cast<T*>(product.c) + of_batch(&ProductDimension::c);
      if (product.start != nullptr)
        one.start_ = static_cast<T const*>(product.start) + of_batch(&ProductDimension::start);
      one.run();
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
        for (std::int64_t i = 0; i < rows; i += thin_rows) make_cells(i, j);
      return;
    }
    for (std::int64_t first = 0; first < terms; first += block_of_terms)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; j += most_columns)
          add_row(first, i, j, std::min(most_columns, columns - j));
  }

  [[nodiscard]] std::int64_t block_at(std::int64_t first) const {
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

  // The numbers of a block of terms side by side: where they lie, or copied to `into`.
  [[nodiscard]] T const* terms_of(T const* from, std::int64_t first,
                                  std::int64_t ProductDimension::*operand, Block& into) const {
    if (lie_side_by_side(product_.terms, operand)) return from + first;
    std::int64_t at[static_cast<std::size_t>(block_of_terms)];
    auto const offsets = offsets_of(product_.terms, first, block_at(first), operand, at);
    for (std::int64_t k = 0; k < offsets.count; ++k)
      into[static_cast<std::size_t>(k)] = from[offsets.at[k]];
    return into.data();
  }

  void add_row(std::int64_t first, std::int64_t i, std::int64_t j, std::int64_t columns) {
    Block numbers;
    auto const* const a = terms_of(a_ + offset(product_.rows, i, &ProductDimension::a), first,
                                   &ProductDimension::a, numbers);
    auto const count = block_at(first);
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

  // All terms of some rows in a column, so that rows are read from front to back.
  void make_cells(std::int64_t i, std::int64_t j) {
    auto const there = std::min(thin_rows, product_.rows.size() - i);
    auto const* const column = b_ + offset(product_.columns, j, &ProductDimension::b);
    T cells[ThinColumn::rows];
    T const* rows[ThinColumn::rows];
    for (std::int64_t r = 0; r < thin_rows; ++r) {
      auto const row =
          i + std::min(r, there - 1);  // the last one again for those that are not there
      cells[r] = start(row, j);
      rows[r] = a_ + offset(product_.rows, row, &ProductDimension::a);
    }
    Block numbers;
    for (std::int64_t first = 0; first < product_.terms.size(); first += block_of_terms) {
      auto const* const b = terms_of(column, first, &ProductDimension::b, numbers);
      T sums[ThinColumn::rows];
      Processor::template run<ThinColumn>(block_at(first), static_cast<T const* const*>(rows), b,
                                          static_cast<T*>(sums));
      for (std::int64_t r = 0; r < thin_rows; ++r) {
        cells[r] = static_cast<T>(cells[r] + sums[r]);
        rows[r] += block_at(first);
      }
    }
    for (std::int64_t r = 0; r < there; ++r) cell(i + r, j) = cells[r];
  }

  Product const& product_;
  T const* a_ = nullptr;
  T const* b_ = nullptr;
  T const* start_ = nullptr;
  T* c_ = nullptr;
};

}  // namespace tessera
