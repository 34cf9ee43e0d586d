#pragma once
/// @file
/// Products by tiles: both operands are packed into panels, which the tiles read in order.
///
/// For each block of terms and group of columns, b is packed once. Then, for each group of rows, a
/// is packed and all tiles of the two groups are computed. The packed rows of a fit into the
/// level-2 cache, one packed panel of b into the level-1 cache.
/// Source: Goto & van de Geijn (2008), as in product.hpp.

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "src/kernels/products/offsets.hpp"
#include "src/kernels/products/product.hpp"
#include "src/kernels/products/thin.hpp"
#include "src/kernels/products/tile.hpp"

namespace tessera {

/// The calling thread's buffer for packed operands, of at least `bytes` bytes, aligned to 64. A
/// call for more bytes than ever before replaces the buffer.
[[nodiscard]] std::byte* product_memory(std::size_t bytes);

/// Writes a value to its place in a panel.
template <class Number>
[[gnu::always_inline]] inline void put_number(Number* to, std::int64_t, Number value) {
  *to = value;
}
/// The imaginary part goes `width` numbers after the real part.
template <class Number>
[[gnu::always_inline]] inline void put_number(Number* to, std::int64_t width,
                                              std::complex<Number> value) {
  to[0] = value.real();
  to[width] = value.imag();
}
/// Widens a type that is narrower in memory than in the computation, such as float16.
template <class Number, class Stored>
requires requires(Stored x) {
  static_cast<Number>(x);
}
[[gnu::always_inline]] inline void put_number(Number* to, std::int64_t, Stored value) {
  *to = static_cast<Number>(value);
}

/// Packs the lines (rows of a, or columns of b) of an operand into panels of `width` lines each.
/// The last panel is filled up with zeros.
template <class Tile, std::int64_t width, class Stored>
void pack(Stored const* from, Offsets const& lines, Offsets const& terms,
          typename Tile::Number* to) {
  constexpr auto numbers = Tile::numbers_per_cell;
  auto const count = terms.count;
  std::int64_t first = 0;
  if (lines.is_contiguous()) {
    // Takes a few terms of all panels at a time, so that memory is read in long runs.
    constexpr std::int64_t at_once = 4;
    auto const whole = lines.count / width * width;
    for (std::int64_t k = 0; k < count; k += at_once) {
      auto const end = std::min(k + at_once, count);
      for (first = 0; first < whole; first += width)
        for (auto term = k; term < end; ++term) {
          auto const* const cells = from + terms.at[term] + lines.at[first];
          auto* const panel = to + (first * count + term * width) * numbers;
          for (std::int64_t x = 0; x < width; ++x) put_number(panel + x, width, cells[x]);
        }
    }
    first = whole;
    to += whole * count * numbers;
  }
  for (; first < lines.count; first += width, to += count * width * numbers) {
    auto const* const line = lines.at + first;
    auto const lines_present = std::min<std::int64_t>(width, lines.count - first);
    if (lines_present == width && terms.is_contiguous()) {
      Stored const* cells[static_cast<std::size_t>(width)];
      for (std::int64_t x = 0; x < width; ++x) cells[x] = from + terms.at[0] + line[x];
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t x = 0; x < width; ++x)
          put_number(to + k * width * numbers + x, width, cells[x][k]);
    } else {
      if (lines_present < width) std::fill_n(to, count * width * numbers, typename Tile::Number{});
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t x = 0; x < lines_present; ++x)
          put_number(to + k * width * numbers + x, width, from[terms.at[k] + line[x]]);
    }
  }
}

/// The loops around the tiles. Processor::run<Tile> computes one tile. `Stored` is the type of
/// cells in memory. If it is narrower than the tile's type, sums stay in a buffer of the wider type
/// until all terms are added, and are rounded once.
template <class Processor, class Tile, class Stored = typename Tile::Cell>
class Multiplier {
 public:
  static void multiply(Product const& product) {
    if constexpr (std::is_arithmetic_v<Cell> && !has_wider_sums) {
      if (is_thin(product)) return ThinMultiplier<Processor, Cell>::multiply(product);
    }
    Multiplier(product).run();
  }

 private:
  using Cell = typename Tile::Cell;
  using Number = typename Tile::Number;
  static constexpr bool has_wider_sums = !std::is_same_v<Cell, Stored>;
  static constexpr std::int64_t term_bytes =
      block_of_terms * std::int64_t{sizeof(Number)} * Tile::numbers_per_cell;
  static constexpr std::int64_t most_rows =
      has_wider_sums ? 48 * Tile::rows : 192 * 1024 / term_bytes / Tile::rows * Tile::rows;
  static constexpr std::int64_t most_columns =
      has_wider_sums ? 16 * Tile::columns
                     : 2 * 1024 * 1024 / term_bytes / Tile::columns * Tile::columns;

  explicit Multiplier(Product const& product) : product_(product) {
    std::size_t bytes = 0;
    auto const take = [&](std::int64_t count, std::size_t size) {
      auto const at = bytes;
      bytes += (static_cast<std::size_t>(count) * size + 63) / 64 * 64;
      return at;
    };
    auto const packed_a = take(most_rows * block_of_terms * Tile::numbers_per_cell, sizeof(Number));
    auto const packed_b =
        take(most_columns * block_of_terms * Tile::numbers_per_cell, sizeof(Number));
    auto const sums = take(has_wider_sums ? most_rows * most_columns : 0, sizeof(Cell));
    auto const rows = take(3 * most_rows, sizeof(std::int64_t));
    auto const columns = take(3 * most_columns, sizeof(std::int64_t));
    auto const terms = take(2 * block_of_terms, sizeof(std::int64_t));
    auto* const memory = product_memory(bytes);
    packed_a_ = reinterpret_cast<Number*>(memory + packed_a);
    packed_b_ = reinterpret_cast<Number*>(memory + packed_b);
    sums_ = reinterpret_cast<Cell*>(memory + sums);
    row_memory_ = reinterpret_cast<std::int64_t*>(memory + rows);
    column_memory_ = reinterpret_cast<std::int64_t*>(memory + columns);
    term_memory_ = reinterpret_cast<std::int64_t*>(memory + terms);
  }

  void run() {
    auto const batches = product_.batch.size();
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      std::int64_t at = 0;
      auto const batch_offset = [&](std::int64_t ProductDimension::*operand) {
        return offsets_of(product_.batch, batch, 1, operand, &at).at[0];
      };
      a_ = static_cast<Stored const*>(product_.a) + batch_offset(&ProductDimension::a);
      b_ = static_cast<Stored const*>(product_.b) + batch_offset(&ProductDimension::b);
      c_ = static_cast<Stored*>(product_.c) + batch_offset(&ProductDimension::c);
      start_ = product_.start == nullptr ? nullptr
                                         : static_cast<Stored const*>(product_.start) +
                                               batch_offset(&ProductDimension::start);
      for (std::int64_t j = 0; j < product_.columns.size(); j += most_columns) multiply_columns(j);
    }
  }

  void multiply_columns(std::int64_t first) {
    auto const count = std::min(most_columns, product_.columns.size() - first);
    auto const offsets = [&](std::int64_t ProductDimension::*operand, int which) {
      return offsets_of(product_.columns, first, count, operand,
                        column_memory_ + which * most_columns);
    };
    b_columns_ = offsets(&ProductDimension::b, 0);
    c_columns_ = offsets(&ProductDimension::c, 1);
    start_columns_ = offsets(&ProductDimension::start, 2);
    auto const terms = product_.terms.size();
    if (terms == 0) return copy_start();
    if constexpr (has_wider_sums) {
      for_each_rows([&] { multiply_with_wider_sums(terms); });
    } else {
      for (std::int64_t k = 0; k < terms; k += block_of_terms) {
        find_terms(k, terms);
        pack<Tile, Tile::columns>(b_, b_columns_, b_terms_, packed_b_);
        for_each_rows([&] { multiply_rows(k == 0); });
      }
    }
  }

  // Calls f() for each group of rows, with a_rows_, c_rows_ and start_rows_ set to its offsets.
  template <class F>
  void for_each_rows(F const& f) {
    auto const rows = product_.rows.size();
    for (std::int64_t i = 0; i < rows; i += most_rows) {
      auto const count = std::min(most_rows, rows - i);
      auto const offsets = [&](std::int64_t ProductDimension::*operand, int which) {
        return offsets_of(product_.rows, i, count, operand, row_memory_ + which * most_rows);
      };
      a_rows_ = offsets(&ProductDimension::a, 0);
      c_rows_ = offsets(&ProductDimension::c, 1);
      start_rows_ = offsets(&ProductDimension::start, 2);
      f();
      product_.pause();
    }
  }

  void find_terms(std::int64_t first, std::int64_t terms) {
    auto const count = std::min(block_of_terms, terms - first);
    a_terms_ = offsets_of(product_.terms, first, count, &ProductDimension::a, term_memory_);
    b_terms_ = offsets_of(product_.terms, first, count, &ProductDimension::b,
                          term_memory_ + block_of_terms);
  }

  void multiply_rows(bool is_first) {
    pack<Tile, Tile::rows>(a_, a_rows_, a_terms_, packed_a_);
    Cells cells{c_, &c_rows_, &c_columns_, c_, &c_rows_, &c_columns_};
    if (is_first) {
      cells.from = start_;
      cells.from_rows = &start_rows_;
      cells.from_columns = &start_columns_;
    }
    multiply_tiles(cells);
  }

  // Adds all terms of a group of rows and columns in the tile's wider type, then rounds to Stored.
  void multiply_with_wider_sums(std::int64_t terms) {
    auto const rows = c_rows_.count;
    auto const columns = c_columns_.count;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        sums_[i * columns + j] =
            start_ == nullptr ? Cell{}
                              : static_cast<Cell>(start_[start_rows_.at[i] + start_columns_.at[j]]);
    for (std::int64_t k = 0; k < terms; k += block_of_terms) {
      find_terms(k, terms);
      pack<Tile, Tile::columns>(b_, b_columns_, b_terms_, packed_b_);
      pack<Tile, Tile::rows>(a_, a_rows_, a_terms_, packed_a_);
      multiply_tiles({sums_, nullptr, nullptr, sums_, nullptr, nullptr});
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        c_[c_rows_.at[i] + c_columns_.at[j]] = static_cast<Stored>(sums_[i * columns + j]);
  }

  // Where tiles read their start values and write their results: in arrays, or in sums_. The
  // offsets of the latter are null.
  struct Cells {
    Cell const* from;  ///< null: start from zero
    Offsets const* from_rows;
    Offsets const* from_columns;
    Cell* to;
    Offsets const* to_rows;
    Offsets const* to_columns;
  };

  // True if a tile can read or write these cells in place, by a row stride.
  [[nodiscard]] static bool allow_direct_access(Offsets const* rows, Offsets const* columns) {
    return rows == nullptr || (rows->is_equally_spaced && columns->is_contiguous());
  }
  [[nodiscard]] std::int64_t offset(Offsets const* rows, Offsets const* columns, std::int64_t i,
                                    std::int64_t j) const {
    return rows == nullptr ? i * c_columns_.count + j : rows->at[i] + columns->at[j];
  }
  [[nodiscard]] std::int64_t row_stride(Offsets const* rows) const {
    return rows == nullptr ? c_columns_.count : rows->stride;
  }

  void multiply_tiles(Cells const& cells) {
    auto const rows = c_rows_.count;
    auto const columns = c_columns_.count;
    bool const is_direct =
        allow_direct_access(cells.to_rows, cells.to_columns) &&
        (cells.from == nullptr || allow_direct_access(cells.from_rows, cells.from_columns));
    auto const terms = a_terms_.count;
    auto const* b = packed_b_;
    for (std::int64_t j = 0; j < columns; j += Tile::columns) {
      auto const* a = packed_a_;
      for (std::int64_t i = 0; i < rows; i += Tile::rows) {
        bool const is_whole = i + Tile::rows <= rows && j + Tile::columns <= columns;
        if (is_direct && is_whole)
          multiply_in_place(cells, i, j, a, b);
        else
          multiply_through_buffer(cells, i, j, a, b);
        a += terms * Tile::rows * Tile::numbers_per_cell;
      }
      b += terms * Tile::columns * Tile::numbers_per_cell;
    }
  }

  // Computes a tile that reads and writes cells where they lie.
  void multiply_in_place(Cells const& cells, std::int64_t i, std::int64_t j, Number const* a,
                         Number const* b) {
    TileCells<Cell> tile{zeros, 0, cells.to + offset(cells.to_rows, cells.to_columns, i, j),
                         row_stride(cells.to_rows)};
    if (cells.from != nullptr) {
      tile.from = cells.from + offset(cells.from_rows, cells.from_columns, i, j);
      tile.from_row_stride = row_stride(cells.from_rows);
    }
    Processor::template run<Tile>(a_terms_.count, a, b, tile);
  }

  // Computes a tile in a buffer, and copies the cells that exist from and to it.
  void multiply_through_buffer(Cells const& cells, std::int64_t first_row,
                               std::int64_t first_column, Number const* a, Number const* b) {
    alignas(64) Cell tile[static_cast<std::size_t>(Tile::rows * Tile::columns)] = {};
    auto const rows = std::min<std::int64_t>(Tile::rows, c_rows_.count - first_row);
    auto const columns = std::min<std::int64_t>(Tile::columns, c_columns_.count - first_column);
    if (cells.from != nullptr)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          tile[i * Tile::columns + j] = cells.from[offset(cells.from_rows, cells.from_columns,
                                                          first_row + i, first_column + j)];
    Processor::template run<Tile>(a_terms_.count, a, b,
                                  TileCells<Cell>{tile, Tile::columns, tile, Tile::columns});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        cells.to[offset(cells.to_rows, cells.to_columns, first_row + i, first_column + j)] =
            tile[i * Tile::columns + j];
  }

  // The product without terms: c is the start.
  void copy_start() {
    for_each_rows([&] {
      for (std::int64_t i = 0; i < c_rows_.count; ++i)
        for (std::int64_t j = 0; j < c_columns_.count; ++j)
          c_[c_rows_.at[i] + c_columns_.at[j]] =
              start_ == nullptr ? Stored{} : start_[start_rows_.at[i] + start_columns_.at[j]];
    });
  }

  alignas(64) static constexpr Cell zeros[static_cast<std::size_t>(Tile::columns)] = {};

  Product const& product_;
  Number* packed_a_;
  Number* packed_b_;
  Cell* sums_;
  std::int64_t* row_memory_;
  std::int64_t* column_memory_;
  std::int64_t* term_memory_;
  // The first cells of the current batch.
  Stored const* a_ = nullptr;
  Stored const* b_ = nullptr;
  Stored const* start_ = nullptr;
  Stored* c_ = nullptr;
  // The offsets of the current group of rows, group of columns and block of terms.
  Offsets a_rows_, c_rows_, start_rows_;
  Offsets b_columns_, c_columns_, start_columns_;
  Offsets a_terms_, b_terms_;
};

}  // namespace tessera
