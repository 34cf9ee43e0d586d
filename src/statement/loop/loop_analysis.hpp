#pragma once
/// @file
/// Decides whether the steps of a recorded loop can be run in blocks, and describes the loop for
/// the planner.

#include <memory>
#include <string>
#include <vector>

#include "src/plan/block_schedule.hpp"
#include "src/statement/loop/recorded_statement.hpp"

namespace tessera {

/// A loop as the planner sees it.
struct LoopAnalysis {
  LoopBody body;
  std::vector<std::size_t> statements;  ///< for each of the body's: which of the recorded ones
  std::vector<std::size_t> part_of;     ///< per recorded statement: see LoopStatement
  bool reduces = false;                 ///< a step has reductions
  /// A statement reads a scalar that is another one in the next step, or that a step combines.
  bool scalars_change = false;
  std::shared_ptr<Layout const> reference;  ///< of the first array written: see LoopArray
  std::string
      fallback_reason;  ///< for people: the reason why it cannot run in blocks; empty if it can
};

/// Ranks: pure, and the same on every process.
[[nodiscard]] LoopAnalysis analyze(std::vector<RecordedStatement> const& step,
                                   ArrayBindings const& bindings);

}  // namespace tessera
