#pragma once
/// @file
/// Whether the steps of a recorded loop can be run in blocks, and what the planner has to know of
/// them.

#include <memory>
#include <string>
#include <vector>

#include "tessera/plan/block_schedule.hpp"

#include "recording.hpp"

namespace tessera {

/// A loop as the planner sees it.
struct LoopAnalysis {
  LoopBody body;
  std::vector<std::size_t> statements;   ///< for each of the body's: which of the recorded ones
  std::shared_ptr<Layout const> layout;  ///< of all arrays that the loop writes
  std::string obstacle;  ///< for people: why it cannot run in blocks; empty if it can
};

/// Ranks: pure, and the same on every process.
[[nodiscard]] LoopAnalysis analyze(std::vector<RecordedStatement> const& step, Names const& names);

/// The place of an array among the names.
[[nodiscard]] std::size_t number_of(Names const& names, std::shared_ptr<ArrayState> const& array);

}  // namespace tessera
