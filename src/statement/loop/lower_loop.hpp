#pragma once
/// @file
/// From recorded steps to what devices do in a block of them. Arithmetic: the plan of any device of
/// any job can be made, and tested, in one process.

#include <cstdint>
#include <vector>

#include "src/plan/ghost.hpp"
#include "src/statement/loop/loop_analysis.hpp"
#include "src/statement/loop/loop_plan.hpp"
#include "src/statement/loop/recorded_statement.hpp"
#include "src/statement/lowering/lower_statement.hpp"

namespace tessera {

/// How a loop's steps are cut into blocks and tiles.
struct BlockShape {
  std::int64_t steps = 1;      ///< of a block
  Index tile;                  ///< extents in cells
  std::int64_t alignment = 1;  ///< cells, of tiles along the last dimension
  bool overlaps = false;       ///< cells that need no message are computed while messages travel
  bool keeps_graphs = false;   ///< GPUs get blocks as graphs
};

/// The inputs of a block.
struct BlockParts {
  std::vector<RecordedStatement> const& step;
  ArrayBindings const& bindings;
  LoopAnalysis const& analysis;
  BlockSchedule const& schedule;
};

/// The ghost widths that the arrays need, wide enough for all roles that they take.
[[nodiscard]] std::vector<GhostWidths> ghost_widths_of_loop(ArrayBindings const& bindings,
                                                            BlockSchedule const& schedule);

/// What a device computes in a block, but for its messages.
/// Ranks: pure.
[[nodiscard]] LoopWork lower_block(BlockParts const& parts, BlockShape const& shape,
                                   DeviceId device);

/// The messages and copies that fill the ghost cells of the arrays with these numbers.
/// Ranks: pure. What a device sends to a peer is what the peer's own plan receives.
[[nodiscard]] LoweredDevice lower_halo(BlockParts const& parts,
                                       std::vector<std::size_t> const& arrays, DeviceId device);

/// The block on devices in a row; the arrays have their ghost cells.
/// Ranks: pure.
[[nodiscard]] LoweredLoop lower_loop(BlockParts const& parts, BlockShape const& shape,
                                     DeviceSpan const& devices);

}  // namespace tessera
