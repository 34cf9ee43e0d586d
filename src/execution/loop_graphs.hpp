#pragma once
/// @file
/// The graphs of one device's work in a loop.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "src/device/queue.hpp"
#include "src/execution/loop.hpp"
#include "src/plan/graph_plan.hpp"

namespace tessera {

/// The part of a block that a graph contains.
enum class GraphPart : std::uint8_t {
  blocks,  ///< all of several blocks
  block,   ///< the work after the messages
  early,   ///< the work that needs no messages
  late,    ///< the rest
};

/// Graphs that are kept between runs, each for the buffers for which it was made: 2 · array +
/// BlockBuffer::which.
/// Threads: the device's while the loop runs.
class LoopGraphs {
 public:
  /// Starts a run: drops graphs that were made with other scalars.
  void begin(std::vector<std::vector<std::byte const*>> const& scalars);
  /// Plans the started run for the device's number of blocks.
  [[nodiscard]] GraphPlan const& plan(GraphFacts facts, std::int64_t period);
  [[nodiscard]] GraphPlan const& plan() const { return plan_; }
  /// Returns how many graphs were made so far.
  [[nodiscard]] std::int64_t made() const { return made_; }

  struct Kept {
    GraphPart part = GraphPart::blocks;
    std::int64_t blocks = 1;  ///< in it
    std::vector<std::byte*> buffers;
    std::unique_ptr<GpuGraph> graph;
  };
  /// A graph for these buffers with at most `most_blocks` blocks; null if there is none.
  [[nodiscard]] Kept const* find(GraphPart part, std::vector<std::byte*> const& buffers,
                                 std::int64_t most_blocks) const;
  /// Makes a graph of the work that `bring` submits to the stream. Null if the GPU refuses, now and
  /// for all later calls: a warning says so once, and the submitted work is discarded.
  [[nodiscard]] Kept const* make(Queue& stream, Kept what, std::function<void()> const& bring);

 private:
  static constexpr std::size_t most_kept = 2 * most_period;

  std::vector<std::unique_ptr<Kept>> graphs_;
  std::vector<std::byte> scalars_;  // that the graphs contain
  std::int64_t earlier_blocks_ = 0;
  std::int64_t made_ = 0;
  bool is_refused_ = false;
  GraphPlan plan_;
};

}  // namespace tessera
