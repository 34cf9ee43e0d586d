#pragma once
/// @file
/// Sets of cells one by one, and random boxes: the slow way to check what floors compute by
/// formulas.

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "src/index/box.hpp"

namespace tessera::test {

using CellSet = std::set<Index>;

/// Calls `visit(cell)` for each cell of a box in row-major order.
template <class Visit>
void for_each_cell(Box const& box, Visit const& visit) {
  if (box.empty()) return;
  Index cell = box.lo;
  for (;;) {
    visit(cell);
    std::size_t d = box.rank();
    while (d-- > 0) {
      if (++cell[d] < box.hi[d]) break;
      cell[d] = box.lo[d];
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

inline CellSet cells_in(Box const& box) {
  CellSet cells;
  for_each_cell(box, [&](Index const& cell) { cells.insert(cell); });
  return cells;
}

inline CellSet cells_in(std::vector<Box> const& boxes) {
  CellSet cells;
  for (auto const& box : boxes) cells.merge(cells_in(box));
  return cells;
}

/// Whole numbers that are the same in every run.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// A number with low <= number <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    auto const choices = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(engine_() % choices);
  }
  bool chance() { return between(0, 1) == 1; }
  /// A box with corners in [low, high]; about as often empty as not.
  Box box(std::size_t rank, std::int64_t low, std::int64_t high) {
    Box result;
    for (std::size_t d = 0; d < rank; ++d) {
      result.lo.push_back(between(low, high));
      result.hi.push_back(std::min(high, result.lo[d] + between(rank == 1 ? -1 : 0, high - low)));
    }
    return result;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tessera::test
