#pragma once
/// @file
/// Chooses the depth and the tiles of a loop's blocks.

#include <string>

#include "tessera/program/program.hpp"

#include "src/plan/block_model.hpp"
#include "src/statement/loop/loop_analysis.hpp"
#include "src/statement/loop/lower_loop.hpp"

namespace tessera {

/// A choice, and its expected cost.
struct BlockChoice {
  BlockShape shape;
  bool is_depth_asked = false;  ///< the caller chose it
  double step_seconds = 0;      ///< predicted, of the device with the most cells
  std::string reason;           ///< for people: what limits it
};

/// Ranks: pure, and the same on every process if `machine` is.
/// Throws: UsageError for tiles of other dimensions than the arrays'.
[[nodiscard]] BlockChoice choose_block(LoopAnalysis const& analysis, ArrayBindings const& bindings,
                                       LoopOptions const& options, MachineFacts const& machine);

}  // namespace tessera
