#pragma once
/// @file
/// The graphs of one device's work in a loop.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tessera/device/gpu.hpp"
#include "tessera/exchange/loop.hpp"

#include "graph_plan.hpp"

namespace tessera {

/// What a graph has of a block.
enum class GraphPart : std::uint8_t {
  blocks,  ///< all of several blocks
  block,   ///< what comes behind the messages
  early,   ///< what needs none of the messages
  late,    ///< the rest
};

/// Graphs that are kept from run to run, each for the buffers for which it was made: 2 · array +
/// BlockBuffer::which.
/// Threads: the device's while the loop runs.
class LoopGraphs {
 public:
  /// At the start of a run: graphs with other scalars are of no use any more.
  void begin(std::vector<std::vector<std::byte const*>> const& scalars);
  /// Plans the run that has begun, in which the device has so many blocks.
  [[nodiscard]] GraphPlan const& plan(GraphFacts facts, std::int64_t period);
  [[nodiscard]] GraphPlan const& plan() const { return plan_; }
  /// How many graphs were made so far.
  [[nodiscard]] std::int64_t made() const { return made_; }

  struct Kept {
    GraphPart part = GraphPart::blocks;
    std::int64_t blocks = 1;  ///< in it
    std::vector<std::byte*> buffers;
    std::unique_ptr<GpuGraph> graph;
  };
  /// One of these buffers with at most so many blocks; null if there is none.
  [[nodiscard]] Kept const* find(GraphPart part, std::vector<std::byte*> const& buffers,
                                 std::int64_t most_blocks) const;
  /// Makes one of what `bring` brings to the stream. Null where the GPU refuses to, now and from
  /// now on: that is said once, and what `bring` has brought is lost.
  [[nodiscard]] Kept const* make(GpuStream& stream, Kept what, std::function<void()> const& bring);

 private:
  static constexpr std::size_t most_kept = 2 * most_period;

  std::vector<std::unique_ptr<Kept>> graphs_;
  std::vector<std::byte> scalars_;  // that they are told
  std::int64_t earlier_blocks_ = 0;
  std::int64_t made_ = 0;
  bool is_refused_ = false;
  GraphPlan plan_;
};

}  // namespace tessera
