#pragma once
/// @file
/// The cases of the stencil benches by plain loops on one core: the cells' formulas are those of
/// the raw versions, but there are no messages, no threads and no stores past the caches.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "raw/aligned.hpp"
#include "raw/gray_scott_2d.hpp"
#include "raw/heat_1d.hpp"
#include "raw/heat_2d.hpp"
#include "raw/heat_3d.hpp"
#include "raw/streaming.hpp"
#include "raw/wave_2d.hpp"

namespace one_core {

/// Cells [lo, hi) of a row, none of which is read for another one.
template <class Cell>
void write(double* row, std::int64_t lo, std::int64_t hi, Cell cell) {
#pragma GCC ivdep
  for (auto j = lo; j < hi; ++j) row[j] = cell(raw::LoadOne{}, j);
}

/// So many cells, numbered in row-major order, and what they are next.
struct Field {
  std::int64_t cells;
  raw::Doubles now = raw::make_doubles(cells), next = raw::make_doubles(cells);

  template <class F>
  Field(std::int64_t n, F const& f) : cells(n) {
    for (std::int64_t i = 0; i < n; ++i) now[at(i)] = next[at(i)] = f(i);
  }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  void swap() { std::swap(now, next); }
};

/// Heat on a line of n cells, its ends kept.
struct Heat1d {
  std::int64_t n;
  double stay, pass;
  Field u;

  void step() {
    write(u.next.get(), 1, n - 1, raw::Heat1dCell{stay, pass, u.now.get()});
    u.swap();
  }
};

/// In a square, its edges kept.
struct Heat2d {
  std::int64_t n;
  double stay, pass;
  Field u;

  void step() {
    for (std::int64_t row = n; row < n * (n - 1); row += n)
      write(u.next.get() + row, 1, n - 1, raw::Heat2dCell{stay, pass, u.now.get() + row, n});
    u.swap();
  }
};

/// In a cube, its faces kept.
struct Heat3d {
  std::int64_t n;
  double stay, pass;
  Field u;

  void step() {
    for (std::int64_t i = 1; i < n - 1; ++i) {
      for (std::int64_t j = 1; j < n - 1; ++j) {
        auto const row = (i * n + j) * n;
        write(u.next.get() + row, 1, n - 1,
              raw::Heat3dCell{stay, pass, u.now.get() + row, n, n * n});
      }
    }
    u.swap();
  }
};

/// Waves in a square: `next` holds the state before.
struct Wave2d {
  std::int64_t n;
  double c;
  Field u;

  void step() {
    for (std::int64_t row = n; row < n * (n - 1); row += n) {
      auto* const before = u.next.get() + row;
      write(before, 1, n - 1, raw::Wave2dCell{c, u.now.get() + row, before, n});
    }
    u.swap();
  }
};

/// Two substances in a square without ends. Each has a row more above and below, which are copies
/// of the last and the first.
struct GrayScott2d {
  std::int64_t n;
  raw::GrayScottRates rates;
  Field u, v;

  void step() {
    for (auto* field : {&u, &v}) {
      auto* const now = field->now.get();
      std::copy_n(now + n * n, n, now);
      std::copy_n(now + n, n, now + n * (n + 1));
    }
    for (std::int64_t row = n; row <= n * n; row += n) {
      raw::GrayScottCell cell{rates, u.now.get() + row, v.now.get() + row, n};
      update(row, 1, n - 1, cell);
      cell.left = n - 1;
      update(row, 0, 1, cell);
      cell.left = -1;
      cell.right = 1 - n;
      update(row, n - 1, n, cell);
    }
    u.swap();
    v.swap();
  }

  void update(std::int64_t row, std::int64_t lo, std::int64_t hi, raw::GrayScottCell cell) {
    auto* const next_u = u.next.get() + row;
    auto* const next_v = v.next.get() + row;
#pragma GCC ivdep
    for (auto j = lo; j < hi; ++j) {
      auto const values = cell(raw::LoadOne{}, j);
      next_u[j] = values[0];
      next_v[j] = values[1];
    }
  }
};

}  // namespace one_core
