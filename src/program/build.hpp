#pragma once
/// @file
/// A block of steps made ready to run on this process's devices.

#include <memory>
#include <vector>

#include "tessera/exchange/loop.hpp"
#include "tessera/transport/job.hpp"

#include "analysis.hpp"
#include "recording.hpp"

namespace tessera {

/// How a loop's steps are cut into blocks and tiles.
struct BlockShape {
  std::int64_t steps = 1;      ///< of a block
  Index tile;                  ///< extents in cells
  std::int64_t alignment = 1;  ///< cells, of tiles along the last dimension
  bool overlaps = false;       ///< what needs no message is computed while messages travel
  bool keeps_graphs = false;   ///< GPUs are brought blocks in one go
};

/// What a block is made of.
struct BlockParts {
  std::vector<RecordedStatement> const& step;
  Names const& names;
  LoopAnalysis const& analysis;
  BlockSchedule const& schedule;
};

/// The ghost cells that the arrays have to have, wide enough for all that they turn into.
[[nodiscard]] std::vector<GhostWidths> widths_for(Names const& names,
                                                  BlockSchedule const& schedule);

/// The block, with its channels still to be opened; the arrays have their ghost cells.
[[nodiscard]] std::unique_ptr<Loop> build_loop(BlockParts const& parts, BlockShape const& shape,
                                               Job const& job);

}  // namespace tessera
