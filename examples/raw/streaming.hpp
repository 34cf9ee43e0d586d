#pragma once
/// @file
/// Loops that write cells, through the caches or past them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#ifdef __AVX2__
#include "raw/pack_avx.hpp"
#else
#include "raw/pack_plain.hpp"
#endif

namespace raw {

struct LoadOne {
  double operator()(double const* from) const { return *from; }
};

/// Whether so much memory of a process is better written past the caches: its lines would be gone
/// before they are read again, and need not be read to be written.
[[nodiscard]] constexpr bool outgrows_caches(std::int64_t doubles) {
  constexpr std::int64_t caches_bytes = std::int64_t{32} << 20;
  return doubles * static_cast<std::int64_t>(sizeof(double)) > caches_bytes;
}

/// Cells [lo, hi) of a row, and of those that follow it.
struct Strip {
  double* row;         ///< the start of a cache line
  std::int64_t pitch;  ///< doubles from one row to the next, whole lines
  std::int64_t lo, hi;
};

/// Writes values(load, i)[r] to each row r of the strip. `values` reads doubles by load(address)
/// alone, and none that are written here for another cell.
template <class Values>
void store(Strip const& strip, Values const& values) {
  auto* const row = strip.row;
  auto const pitch = strip.pitch;
#pragma GCC ivdep
  for (std::int64_t i = strip.lo; i < strip.hi; ++i) {
    auto const cells = values(LoadOne{}, i);
    for (std::size_t r = 0; r < cells.size(); ++r)
      row[static_cast<std::int64_t>(r) * pitch + i] = cells[r];
  }
}

/// The same past the caches.
template <class Values>
void stream(Strip const& strip, Values const& values) {
  auto const [row, pitch, lo, hi] = strip;
  auto const first = std::min((lo + pack_doubles - 1) / pack_doubles * pack_doubles, hi);
  auto const last = std::max(hi / pack_doubles * pack_doubles, first);
  store({row, pitch, lo, first}, values);
  for (std::int64_t i = first; i < last; i += pack_doubles) {
    auto const cells = values(LoadPack{}, i);
    for (std::size_t r = 0; r < cells.size(); ++r)
      stream_pack(row + static_cast<std::int64_t>(r) * pitch + i, cells[r]);
  }
  store({row, pitch, last, hi}, values);
}

/// The values of n rows at a time: what several of them read is loaded once.
template <class Cell, std::size_t n>
struct Together {
  std::array<Cell, n> cell_of_row;

  template <class Load>
  auto operator()(Load load, std::int64_t i) const {
    std::array<decltype(cell_of_row[0](load, i)), n> values;
    for (std::size_t row = 0; row < n; ++row) values[row] = cell_of_row[row](load, i);
    return values;
  }
};
template <class Cell, class... Cells>
Together(Cell, Cells...) -> Together<Cell, 1 + sizeof...(Cells)>;

struct Span {
  std::int64_t lo, hi;
};

/// Calls write(strip, values) for the rows, two at a time; `strip.row` is row 0 and cell_of(r) what
/// a cell of row r becomes.
template <class CellOf, class Write>
void for_rows(Span rows, Strip const& strip, CellOf const& cell_of, Write const& write) {
  auto const [first, pitch, lo, hi] = strip;
  auto row = rows.lo;
  for (; row + 1 < rows.hi; row += 2)
    write(Strip{first + row * pitch, pitch, lo, hi}, Together{cell_of(row), cell_of(row + 1)});
  if (row < rows.hi) write(Strip{first + row * pitch, pitch, lo, hi}, Together{cell_of(row)});
}

template <class CellOf>
void store_rows(Span rows, Strip const& strip, CellOf const& cell_of) {
  for_rows(rows, strip, cell_of, [](auto const& part, auto const& values) { store(part, values); });
}
template <class CellOf>
void stream_rows(Span rows, Strip const& strip, CellOf const& cell_of) {
  for_rows(rows, strip, cell_of,
           [](auto const& part, auto const& values) { stream(part, values); });
}

}  // namespace raw
