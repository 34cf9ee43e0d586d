#pragma once
/// @file
/// Blocks of steps of a recorded loop, ready to run on this process's devices.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/execution/compiled_statement.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/statement/loop/loop_plan.hpp"

namespace tessera {

/// Graphs kept between runs, so that a GPU is given a block by one launch.
class LoopGraphs;
/// Makes an empty set of graphs for a device that may be a GPU.
[[nodiscard]] std::shared_ptr<LoopGraphs> make_loop_graphs();

/// The work of one local device in a block.
struct LoopDevice : LoopWork {
  std::shared_ptr<LoopGraphs> graphs;  ///< null if graphs are switched off
};

/// True if a device runs its early pass while the messages of `plan` are still on their way; false
/// if there is nothing to run or to receive, or if its messages do not fit the channels.
[[nodiscard]] bool overlaps_messages(LoopDevice const& device, DevicePlan const& plan);

/// Says how the blocks were submitted to a GPU in the last run.
struct GraphUse {
  std::int64_t blocks = 0;      ///< per graph; 0: no graph, launch by launch
  std::int64_t made = 0;        ///< graphs, since the loop was made
  std::string fallback_reason;  ///< for people: why there is no graph; empty if there is no GPU
};
/// The use of graphs in the last run; call it between two runs. Ranks: local.
[[nodiscard]] GraphUse graph_use(LoopDevice const& device);

/// Blocks of a loop's steps, ready to run on this process once their channels are open.
struct Loop : LoopPlan {
  /// Takes over the plan of this process's devices; its channels are still to be opened.
  explicit Loop(LoweredLoop&& lowered);

  std::vector<LoopDevice> devices;
  std::shared_ptr<CompiledStatement> first;  ///< as of LoweredLoop
  std::shared_ptr<CompiledStatement> later;
};

/// A run of some blocks.
struct LoopRun {
  Loop const& loop;
  std::vector<std::shared_ptr<ArrayState>> const& arrays;  ///< in the order of the first step
  std::int64_t blocks = 0;
  std::int64_t first_step = 0;  ///< the number of the first step, passed to kernels
  std::span<std::shared_ptr<ScalarState> const> scalars = {};  ///< in the order of the first step
};

}  // namespace tessera
