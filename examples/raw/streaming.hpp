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

/// One value for each row. A cell reads doubles by load(address) alone, so that rows that several
/// of them read are loaded once.
template <class Load, class Cell, std::size_t n>
[[nodiscard]] auto values_of(Load load, std::array<Cell, n> const& cells, std::int64_t i) {
  std::array<decltype(cells[0](load, i)), n> values;
  for (std::size_t row = 0; row < n; ++row) values[row] = cells[row](load, i);
  return values;
}

/// Writes cells[r](load, i) to each row r of the strip. Cells read none that is written here but
/// their own.
template <class Cell, std::size_t n>
void store(Strip const& strip, std::array<Cell, n> const& cells) {
  auto* const row = strip.row;
  auto const pitch = strip.pitch;
#pragma GCC ivdep
  for (std::int64_t i = strip.lo; i < strip.hi; ++i) {
    auto const values = values_of(LoadOne{}, cells, i);
    for (std::size_t r = 0; r < n; ++r) row[static_cast<std::int64_t>(r) * pitch + i] = values[r];
  }
}

/// The same past the caches.
template <class Cell, std::size_t n>
void stream(Strip const& strip, std::array<Cell, n> const& cells) {
  auto const [row, pitch, lo, hi] = strip;
  auto const first = std::min((lo + pack_doubles - 1) / pack_doubles * pack_doubles, hi);
  auto const last = std::max(hi / pack_doubles * pack_doubles, first);
  store({row, pitch, lo, first}, cells);
  for (std::int64_t i = first; i < last; i += pack_doubles) {
    auto const values = values_of(LoadPack{}, cells, i);
    for (std::size_t r = 0; r < n; ++r)
      stream_pack(row + static_cast<std::int64_t>(r) * pitch + i, values[r]);
  }
  store({row, pitch, last, hi}, cells);
}

struct Span {
  std::int64_t lo, hi;
};

/// Calls write(strip, cells) for the rows, two at a time; `strip.row` is row 0 and cell_of(r) what
/// the cells of row r become.
template <class CellOf, class Write>
void for_rows(Span rows, Strip const& strip, CellOf const& cell_of, Write const& write) {
  auto const [first, pitch, lo, hi] = strip;
  auto row = rows.lo;
  for (; row + 1 < rows.hi; row += 2)
    write(Strip{first + row * pitch, pitch, lo, hi}, std::array{cell_of(row), cell_of(row + 1)});
  if (row < rows.hi) write(Strip{first + row * pitch, pitch, lo, hi}, std::array{cell_of(row)});
}

template <class CellOf>
void store_rows(Span rows, Strip const& strip, CellOf const& cell_of) {
  for_rows(rows, strip, cell_of, [](auto const& part, auto const& cells) { store(part, cells); });
}
template <class CellOf>
void stream_rows(Span rows, Strip const& strip, CellOf const& cell_of) {
  for_rows(rows, strip, cell_of, [](auto const& part, auto const& cells) { stream(part, cells); });
}

}  // namespace raw
