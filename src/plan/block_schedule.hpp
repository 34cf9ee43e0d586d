#pragma once
/// @file
/// Schedules several steps of a loop as one block: an order of statements and cells in which every
/// cell gets the same bits as in a run step by step.
///
/// A device with ghost cells as deep as a block of steps reaches computes the block without a
/// message; it computes part of the neighbours' cells along with its own. Inside the block it may
/// process the cells in tiles, all steps over one tile before the next. Each statement's cells are
/// moved back by its skew, so that the cells it reads have been written and the cells it overwrites
/// have been read. All of it is arithmetic on boxes.

#include <cstdint>
#include <optional>
#include <vector>

#include "src/base/detail.hpp"
#include "src/plan/ghost.hpp"
#include "src/plan/loop_array.hpp"

namespace tessera {

/// The cells that a statement of a loop reads of an array: for each cell that it writes, those
/// between `lowest` and `highest` away along each dimension.
struct LoopRead {
  std::size_t array = 0;
  Index lowest;
  Index highest;
  /// Per dimension: true if the read wraps around to periodic images past the domain's ends;
  /// otherwise it reads nothing there.
  InlineVector<bool, max_rank> wraps;
  /// It reads any cells of an array that nothing writes, and that every device has: no other member
  /// but `array` counts.
  bool is_table = false;
};

/// A statement of a loop's body.
struct LoopStatement {
  std::size_t array = 0;  ///< the one it writes; of a reduction, one that lies where it is computed
  Box written;            ///< the smallest box around the cells, of the whole array
  bool has_holes = false;  ///< it writes with strides: not every cell of `written`
  bool swaps = false;      ///< it overwrites cells that it reads, so it writes the other buffer
  std::vector<LoopRead> reads;
  bool reduces = false;  ///< it writes no cell, and combines one value for each of `written`
  /// Which part of a step it belongs to, counted from 0. Parts run one after the other, and the
  /// values of a part's reductions are known to the next one. If any statement reads such a value,
  /// a block is one step.
  std::size_t part = 0;
};

/// The body of a loop. Its arrays but tables have one rank, and equal extents along dimensions that
/// some read wraps around. They are numbered by their roles at the start of a step; the array in
/// role `a` of the next step has role `next[a]` in this step, and lies where that one does.
struct LoopBody {
  std::vector<LoopArray> arrays;
  std::vector<std::size_t> next;
  std::vector<LoopStatement> statements;
  /// Reductions count only in so many of the last steps, if no statement reads their values.
  std::int64_t kept_totals = 1;

  [[nodiscard]] std::size_t rank() const;
  /// Per dimension: true if any read wraps around.
  [[nodiscard]] InlineVector<bool, max_rank> wraps() const;
  /// The arrays that some statement writes, in any step.
  [[nodiscard]] std::vector<bool> written() const;
  /// The arrays of which some statement writes the other buffer, in any step.
  [[nodiscard]] std::vector<bool> swapped() const;
  /// Returns for each array a box around the cells in which its two buffers may differ, at the
  /// start of a step of a loop that has run for some time.
  [[nodiscard]] std::vector<Box> differing() const;
};

/// One of the two buffers of an array, as they are at the start of a block: 0 holds the cells.
struct BlockBuffer {
  std::size_t array = 0;
  std::size_t which = 0;
  friend bool operator==(BlockBuffer const&, BlockBuffer const&) = default;
};

/// A statement in one of the steps of a block. Or, before a statement that writes the other buffer,
/// a carry: it copies the cells that the statement does not write.
struct BlockInstance {
  std::size_t statement = 0;
  std::int64_t step = 0;
  bool carries = false;
  std::vector<Box> boxes;             ///< of the whole array
  std::optional<BlockBuffer> target;  ///< none of a reduction
  std::vector<BlockBuffer> reads;     ///< those of the statement; for a carry the one buffer
  Index skew;
};

/// The range of cells that an instance reads in one buffer.
struct BlockReach {
  BlockBuffer buffer;
  Index lowest;   ///< as of LoopRead
  Index highest;  ///< as of LoopRead
  InlineVector<bool, max_rank> wraps;
};
/// The array by whose cells an instance's are counted, as the block's start calls it.
[[nodiscard]] std::size_t array_of(LoopBody const& body, BlockInstance const& instance);
/// The reads of an instance but those of tables; a carry reads the other buffer of its cells.
[[nodiscard]] std::vector<BlockReach> reaches_of(LoopBody const& body,
                                                 BlockInstance const& instance);

/// A block of steps.
struct BlockSchedule {
  std::int64_t steps = 0;
  std::vector<BlockInstance> instances;  ///< in the order of the program
  std::vector<BlockBuffer> after;        ///< per array: where its cells are after the block
  std::vector<GhostWidths> widths;       ///< per array: the ghost cells needed when it starts
};

/// Schedules `steps` steps. Skews along the last dimension go up by multiples of `alignment` cells.
/// Source: the longest path over flow, anti and output dependences, as in Wonnacott, Using Time
///         Skewing to Eliminate Idle Time due to Memory Bandwidth and Network Limitations (2000).
[[nodiscard]] BlockSchedule schedule_block(LoopBody const& body, std::int64_t steps,
                                           std::int64_t alignment);

/// Cells of one instance on one device, unwrapped: the array's cells shifted by `moved`, whole
/// periods.
struct BlockCells {
  Box cells;
  Index moved;
};

/// Returns for each instance the cells that a device computes which owns `own` of each array. All
/// of them lie within its array's `own` and the ghost cells of the schedule's widths.
[[nodiscard]] std::vector<std::vector<BlockCells>> cells_of_block(LoopBody const& body,
                                                                  BlockSchedule const& schedule,
                                                                  std::vector<Box> const& own);

}  // namespace tessera
