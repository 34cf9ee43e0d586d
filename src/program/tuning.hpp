#pragma once
/// @file
/// How deep and how wide the blocks of a loop are to be.

#include <string>

#include "tessera/program/loop_options.hpp"

#include "analysis.hpp"
#include "block_model.hpp"
#include "build.hpp"

namespace tessera {

/// A choice, and what it is expected to cost.
struct BlockChoice {
  BlockShape shape;
  double step_seconds = 0;  ///< predicted, of the device with the most cells
  std::string reason;       ///< for people: what limits it
};

/// Ranks: pure, and the same on every process if `machine` is.
/// Throws: UsageError for tiles of other dimensions than the arrays'.
[[nodiscard]] BlockChoice choose_block(LoopAnalysis const& analysis, Names const& names,
                                       LoopOptions const& options, MachineFacts const& machine);

}  // namespace tessera
