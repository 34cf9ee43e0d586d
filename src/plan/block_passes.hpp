#pragma once
/// @file
/// The cells of a block of steps that a device computes while its ghost cells still travel.

#include <vector>

#include "src/plan/block_schedule.hpp"

namespace tessera {

/// Per instance of a block: cells that a device computes.
using CellsOfInstances = std::vector<std::vector<BlockCells>>;

/// The cells of a block on one device, in consecutive passes. Each pass runs all instances of the
/// block, in the order of the program or of tiles.
struct BlockPasses {
  CellsOfInstances early;  ///< computed from the device's own cells alone; empty if there are none
  std::vector<CellsOfInstances> late;
};

/// The passes of a device that owns `own` of each array.
///
/// A cell is early if it is so far from the ends of `own` that its instance reads no cell beyond
/// them along any path, and overwrites no cell that a late instance still has to read. The late
/// cells lie around the early ones: along the last cut dimension below and above, then along the
/// dimension before, and so on. Ends of the domain are no ends of `own`, since no cells come from
/// there.
///
/// Example: two heat steps on cells [4, 8) of 16, whose ghost cells are [2, 4) and [8, 10): early
/// are [5, 7) of the first step and none of the second; then [3, 5) and [4, 6), then [7, 9) and
/// [6, 8).
[[nodiscard]] BlockPasses passes_of_block(LoopBody const& body, BlockSchedule const& schedule,
                                          std::vector<Box> const& own);

}  // namespace tessera
