#include "src/execution/loop_graphs.hpp"

#include <string>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/execution/storage/scalar_state.hpp"

namespace tessera {

void LoopGraphs::begin(std::vector<std::vector<std::byte const*>> const& scalars) {
  std::vector<std::byte> now;
  for (auto const& values : scalars)
    for (auto const* const value : values)
      now.insert(now.end(), value, value + ScalarState::most_bytes);
  // There are many graphs only if the arrays were in different buffers in every run.
  if (now == scalars_ && graphs_.size() <= most_kept) return;
  scalars_ = std::move(now);
  graphs_.clear();
  earlier_blocks_ = 0;
}

GraphPlan const& LoopGraphs::plan(GraphFacts facts, std::int64_t period) {
  facts.earlier_blocks = earlier_blocks_;
  plan_ = is_refused_ ? GraphPlan{0, 0, facts.blocks, "the GPU refuses them"}
                      : plan_graphs(facts, period);
  earlier_blocks_ += facts.blocks;
  return plan_;
}

LoopGraphs::Kept const* LoopGraphs::find(GraphPart part, std::vector<std::byte*> const& buffers,
                                         std::int64_t most_blocks) const {
  Kept const* found = nullptr;
  for (auto const& kept : graphs_) {
    if (kept->part != part || kept->blocks > most_blocks) continue;
    if (kept->buffers != buffers) continue;
    if (found == nullptr || kept->blocks > found->blocks) found = kept.get();
  }
  return found;
}

LoopGraphs::Kept const* LoopGraphs::make(Queue& stream, Kept what,
                                         std::function<void()> const& bring) {
  if (is_refused_) return nullptr;
  try {
    what.graph = stream.make_graph(bring);
  } catch (DeviceError const& error) {
    is_refused_ = true;
    plan_ = {0, 0, 0, "the GPU refuses them"};
    log_warning_once(
        text("loops on GPUs run launch by launch, since a graph cannot be "
             "made: ",
             error.what()));
    return nullptr;
  }
  ++made_;
  return graphs_.emplace_back(std::make_unique<Kept>(std::move(what))).get();
}

std::shared_ptr<LoopGraphs> make_loop_graphs() {
  return std::make_shared<LoopGraphs>();
}

GraphUse graph_use(LoopDevice const& device) {
  if (device.graphs == nullptr) return {};
  auto const& plan = device.graphs->plan();
  return {plan.blocks, device.graphs->made(), std::string(plan.fallback_reason)};
}

}  // namespace tessera
