#pragma once
/// @file
/// Which cells of a block of steps a device computes while its ghost cells still travel.

#include <vector>

#include "tessera/plan/block_schedule.hpp"

namespace tessera {

/// Per instance of a block: cells that a device computes.
using CellsOfInstances = std::vector<std::vector<BlockCells>>;

/// The cells of a block on one device in passes, one after the other; in each pass all instances of
/// the block, in the order of the program or of tiles.
struct BlockPasses {
  CellsOfInstances early;  ///< made of the device's own cells alone; empty if there are none
  std::vector<CellsOfInstances> late;
};

/// The passes of a device that owns `own`.
///
/// Early are the cells that lie so far from the ends of `own` that no instance reads, along any
/// path, a cell beyond, nor overwrites what an instance still has to read that is not early itself.
/// The rest lies around them: along the last cut dimension below and above, then along the one
/// before, and so on. Ends of the domain are no ends of `own`: nothing comes from there.
///
/// Example: two heat steps on cells [4, 8) of 16, whose ghost cells are [2, 4) and [8, 10): early
/// are [5, 7) of the first step and none of the second; then [3, 5) and [4, 6), then [7, 9) and
/// [6, 8).
[[nodiscard]] BlockPasses passes_of_block(LoopBody const& body, BlockSchedule const& schedule,
                                          Box const& own);

}  // namespace tessera
