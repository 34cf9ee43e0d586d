#pragma once
/// @file
/// Which blocks of a loop's steps a GPU is brought as graphs, that is, in one go. Arithmetic: no
/// GPU is asked.

#include <cstdint>
#include <string_view>
#include <vector>

#include "tessera/plan/block_schedule.hpp"

namespace tessera {

/// So many launches hide what it takes to start a graph.
inline constexpr std::int64_t enough_launches = 64;
/// Of all graphs of a device in a run: each launch takes memory of the host and of the GPU.
inline constexpr std::int64_t most_launches = 4096;
/// To make a graph takes longer than to bring its launches once, and each run saves a part of that.
inline constexpr std::int64_t least_runs = 4;
inline constexpr std::int64_t most_period = 64;  ///< blocks

/// What decides about the graphs of one device in a run of a loop. The first block of a run is no
/// part of it: it fills more ghost cells than the others, and is brought plainly.
struct GraphFacts {
  std::int64_t blocks = 0;          ///< of this run
  std::int64_t earlier_blocks = 0;  ///< of runs from which graphs are still there
  std::int64_t launches = 0;        ///< of a block, without those that messages take
  bool has_messages = false;        ///< the host has something to do in every block
  bool counts_steps = false;        ///< kernels are told the number of the step
};

/// Block b of the run, counted from 0, is part of run b / blocks of a graph, which is number
/// (b / blocks) % graphs; only the last `rest` blocks are not.
struct GraphPlan {
  std::int64_t blocks = 0;    ///< in a graph; 0: all are brought plainly
  std::int64_t graphs = 0;    ///< that are made, if none is there yet
  std::int64_t rest = 0;      ///< blocks for which these graphs are too long
  std::string_view obstacle;  ///< for people: why there are no graphs; empty if there are

  friend bool operator==(GraphPlan const&, GraphPlan const&) = default;
};

/// After how many blocks every array is called as before and lies in the same buffer; 0 if that
/// takes more than `most_period`. `after`: as of BlockSchedule.
[[nodiscard]] std::int64_t period_of(std::vector<BlockBuffer> const& after);

/// Without messages a graph has so many whole blocks that all buffers are where they were, and one
/// serves for all: a power of two of periods. With them there is a graph for each of the ways in
/// which the buffers lie. `period`: as of period_of.
[[nodiscard]] GraphPlan plan_graphs(GraphFacts const& facts, std::int64_t period);

}  // namespace tessera
