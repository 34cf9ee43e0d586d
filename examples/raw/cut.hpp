#pragma once
/// @file
/// How cells are divided among processes.

#include <algorithm>
#include <cstdint>

#include "raw/aligned.hpp"

namespace raw {

/// What a process has along one dimension.
struct Cut {
  std::int64_t first, count;
  std::int64_t lo, hi;  ///< the cells that change
  int with_cells;       ///< the processes of the line that have cells

  Cut(std::int64_t cells, int processes, int position, bool periodic)
      : first(begin_of(cells, processes, position)),
        count(begin_of(cells, processes, position + 1) - first),
        lo(!periodic && first == 0 ? 1 : 0),
        hi(std::max(!periodic && first + count == cells ? count - 1 : count, lo)),
        with_cells(static_cast<int>(std::min<std::int64_t>(processes, cells))) {}

  /// The changing cells that need no neighbour's.
  [[nodiscard]] std::int64_t inner_lo() const {
    return std::min(std::max<std::int64_t>(lo, 1), hi);
  }
  [[nodiscard]] std::int64_t inner_hi() const {
    return std::max(std::min(hi, count - 1), inner_lo());
  }

  /// The position `step` further on; -1 past a fixed end.
  [[nodiscard]] int neighbour(int position, int step, bool periodic) const {
    int const next = position + step;
    if (next >= 0 && next < with_cells) return next;
    return periodic ? (next + with_cells) % with_cells : -1;
  }
};

}  // namespace raw
