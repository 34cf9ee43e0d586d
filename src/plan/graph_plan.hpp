#pragma once
/// @file
/// Which blocks of a loop's steps a GPU runs as graphs, each submitted by one launch. Arithmetic:
/// no GPU is asked.

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/plan/block_schedule.hpp"

namespace tessera {

/// Launches in a graph that amortise the cost of starting it.
inline constexpr std::int64_t enough_launches = 64;
/// Launches in all graphs of a device in a run: each takes memory of the host and of the GPU.
inline constexpr std::int64_t most_launches = 4096;
/// Runs of a graph that pay for making it, which takes longer than submitting its launches once.
inline constexpr std::int64_t least_runs = 4;
inline constexpr std::int64_t most_period = 64;  ///< blocks

/// The facts that decide about the graphs of one device in a run of a loop. They leave out the
/// first block of a run, which fills more ghost cells than the others and is submitted launch by
/// launch.
struct GraphFacts {
  std::int64_t blocks = 0;          ///< of this run
  std::int64_t earlier_blocks = 0;  ///< of earlier runs whose graphs still exist
  std::int64_t launches = 0;        ///< of a block, without those of messages
  bool has_messages = false;        ///< the host must act in every block
  bool counts_steps = false;        ///< kernels use the number of the step
};

/// Block b of the run, counted from 0, is part of run b / blocks of a graph, which is number
/// (b / blocks) % graphs; only the last `rest` blocks are not.
struct GraphPlan {
  std::int64_t blocks = 0;           ///< in a graph; 0: all are submitted launch by launch
  std::int64_t graphs = 0;           ///< to be made, if none exists yet
  std::int64_t rest = 0;             ///< blocks for which these graphs are too long
  std::string_view fallback_reason;  ///< for people: why there are no graphs; empty if there are

  friend bool operator==(GraphPlan const&, GraphPlan const&) = default;
};

/// The number of blocks after which every array has its old name and lies in its old buffer; 0 if
/// it is more than `most_period`. `after`: as of BlockSchedule.
[[nodiscard]] std::int64_t period_of(std::vector<BlockBuffer> const& after);

/// Without messages one graph holds as many blocks as it takes until all buffers are where they
/// were: a power of two of periods. With messages there is a graph for each way in which the
/// buffers lie. `period`: as of period_of.
[[nodiscard]] GraphPlan plan_graphs(GraphFacts const& facts, std::int64_t period);

}  // namespace tessera
