#pragma once
/// @file
/// Which thread of a launch on a GPU computes which cells: arithmetic, the same on the host.
///
/// Threads lie in two directions: x along the last dimension of a box, y over its rows. A thread
///         takes a few cells of a row, a block's width apart, so that neighbouring threads read
///         neighbouring cells, and each thread has several loads in flight. If the grid is smaller
///         than the box, each thread continues in strides of the grid.
///
///     a block of 4 x 2 threads, 2 cells in flight: which thread of the block computes a cell
///     row 0   0 1 2 3 0 1 2 3 | the next block along x
///     row 1   4 5 6 7 4 5 6 7 |

#include <cstddef>
#include <cstdint>

#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

/// Numbers of a box, one per dimension, as an argument of a kernel: the counterpart of Index.
template <std::size_t N>
struct GpuIndex {
  std::int64_t numbers[N] = {};
  [[nodiscard]] TESSERA_FUNCTION constexpr std::size_t size() const { return N; }
  [[nodiscard]] TESSERA_FUNCTION constexpr std::int64_t operator[](std::size_t d) const {
    return numbers[d];
  }
  [[nodiscard]] TESSERA_FUNCTION constexpr std::int64_t back() const { return numbers[N - 1]; }
};

/// How many threads a launch has.
struct GpuShape {
  unsigned threads_x = 1;  ///< of a block
  unsigned threads_y = 1;
  unsigned blocks_x = 1;
  unsigned blocks_y = 1;
};

/// One of them.
struct GpuThread {
  unsigned x = 0;  ///< in its block
  unsigned y = 0;
  unsigned block_x = 0;
  unsigned block_y = 0;
};

/// Cells that a thread loads before it stores the first.
inline constexpr std::int64_t cells_in_flight = 4;

/// Calls visit(row) for the rows of a thread.
template <class Visit>
TESSERA_FUNCTION void visit_rows_of(GpuShape const& shape, GpuThread const& thread,
                                    std::int64_t rows, Visit const& visit) {
  auto const step = std::int64_t{shape.blocks_y} * shape.threads_y;
  for (auto row = std::int64_t{thread.block_y} * shape.threads_y + thread.y; row < rows;
       row += step)
    visit(row);
}

/// Calls visit(j) for the thread's first cell of each run of a row: its cells are j,
/// j + threads_x … , `cells_in_flight` of them or as many as the row has.
template <class Visit>
TESSERA_FUNCTION void visit_runs_of(GpuShape const& shape, GpuThread const& thread,
                                    std::int64_t columns, Visit const& visit) {
  auto const width = std::int64_t{shape.threads_x} * cells_in_flight;
  for (auto j = std::int64_t{thread.block_x} * width + thread.x; j < columns;
       j += width * shape.blocks_x)
    visit(j);
}

/// a / b for numbers that are not negative. 32 bits are several times as fast on a GPU.
[[nodiscard]] TESSERA_FUNCTION inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (((a | b) >> 32) == 0)
    return static_cast<std::int64_t>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
  return a / b;
}

/// Moves rows, or anything else with move(d, n), from the box's first row to others.
template <std::size_t N>
class GpuRowCursor {
 public:
  template <class... Cursors>
  TESSERA_FUNCTION void move_to(std::int64_t row, GpuIndex<N> const& extents, Cursors&... cursors) {
    for (std::size_t d = N - 1; d-- > 0;) {
      auto const rest = d == 0 ? 0 : quotient(row, extents[d]);
      auto const at = row - rest * extents[d];
      auto const n = at - at_[d];
      (cursors.move(d, n), ...);
      at_[d] = at;
      row = rest;
    }
  }

 private:
  std::int64_t at_[N] = {};
};

/// Threads for all cells of a box at once, up to the largest grid. `threads` of a block: a power of
///         two.
[[nodiscard]] GpuShape shape_for(std::int64_t rows, std::int64_t columns, unsigned threads);

/// The same with at most `most` blocks.
[[nodiscard]] GpuShape shape_for(std::int64_t rows, std::int64_t columns, unsigned threads,
                                 std::int64_t most);

/// How the threads of a block share a fold's work, all numbers powers of two: each of `cells`
/// target cells has `along` threads for the terms of a row and as many for each of `rows` rows at
/// once. Neighbours read neighbouring terms; where rows are cells, and `along` is 1, those of
/// neighbouring cells.
///
///     along 4, cells 2, rows 2: a thread's place in the sum
///     first row   first cell 0 1 2 3   second cell  4  5  6  7
///     second row  first cell 8 9 10 11  second cell 12 13 14 15
struct FoldSplit {
  unsigned along_bits = 0;
  unsigned cells_bits = 0;
  unsigned rows_bits = 0;

  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned along() const { return 1U << along_bits; }
  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned cells() const { return 1U << cells_bits; }
  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned rows() const { return 1U << rows_bits; }
  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned threads() const {
    return 1U << (along_bits + cells_bits + rows_bits);
  }
  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned along_of(unsigned thread) const {
    return thread & (along() - 1);
  }
  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned cell_of(unsigned thread) const {
    return thread >> along_bits & (cells() - 1);
  }
  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned row_of(unsigned thread) const {
    return thread >> (along_bits + cells_bits);
  }

  /// The number of consecutive steps in which the sums of a cell's threads are combined.
  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned steps() const { return along_bits + rows_bits; }
  /// The thread whose sum a thread adds to its own in a step; that partner adds nothing from then
  /// on. The thread's own number if it adds nothing.
  [[nodiscard]] TESSERA_FUNCTION constexpr unsigned partner(unsigned step, unsigned thread) const {
    if (step < rows_bits) {
      auto const half = threads() >> (step + 1);
      return thread < half ? thread + half : thread;
    }
    auto const half = along() >> (step - rows_bits + 1);
    return row_of(thread) == 0 && along_of(thread) < half ? thread + half : thread;
  }
};

/// The extents of a fold's box.
struct FoldExtents {
  std::int64_t cells = 0;      ///< of the target
  std::int64_t rows = 0;       ///< of terms, for each cell
  std::int64_t row_terms = 0;  ///< 1 where rows are cells
};

/// Accumulators whose value depends on the order of the terms, which is that of the indices: they
/// say `static constexpr bool adds_in_order = true`.
template <class A>
concept AddsInOrder = requires {
  requires A::adds_in_order;
};

/// Threads for a fold. A warp goes along rows that have at least that many terms; if rows are
///         cells, at least eight neighbours of a row stay together. If there are fewer cells than
///         `busy` threads, more threads share each cell, as long as each thread gets a few terms.
///         `threads` of a block: a power of two, 32 or more.
[[nodiscard]] FoldSplit split_for(FoldExtents const& extents, unsigned threads, std::int64_t busy);
/// The same for sums that depend on the order of their terms: each thread has cells of its own.
[[nodiscard]] FoldSplit split_in_order(unsigned threads);

}  // namespace tessera::detail
