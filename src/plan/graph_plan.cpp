#include "src/plan/graph_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tessera {
namespace {

GraphPlan plainly(GraphFacts const& facts, std::string_view fallback_reason) {
  return {0, 0, facts.blocks, fallback_reason};
}

GraphPlan plan_whole_blocks(GraphFacts const& facts, std::int64_t period) {
  auto const enough = (enough_launches + facts.launches - 1) / facts.launches;
  auto const affordable = (facts.blocks + facts.earlier_blocks) / least_runs;
  auto const most = std::min({std::max(enough, period), affordable, facts.blocks});
  if (most < period) return plainly(facts, "there are too few blocks");
  // A power of two, so that runs of different lengths share a few graphs.
  auto const periods = std::bit_floor(static_cast<std::uint64_t>(most / period));
  auto const blocks = period * static_cast<std::int64_t>(periods);
  if (blocks * facts.launches < 2) return plainly(facts, "there are too few launches");
  return {blocks, 1, facts.blocks % blocks, {}};
}

}  // namespace

std::int64_t period_of(std::vector<BlockBuffer> const& after) {
  std::vector<BlockBuffer> start;
  for (std::size_t a = 0; a < after.size(); ++a) start.push_back({a, 0});
  auto now = start;
  auto before = start;
  for (std::int64_t period = 1; period <= most_period; ++period) {
    before = now;
    for (std::size_t a = 0; a < after.size(); ++a) {
      auto const& [array, which] = after[a];
      now[a] = {before[array].array, before[array].which ^ which};
    }
    if (now == start) return period;
  }
  return 0;
}

GraphPlan plan_graphs(GraphFacts const& facts, std::int64_t period) {
  if (facts.counts_steps) return plainly(facts, "kernels use the number of the step");
  if (period == 0) return plainly(facts, "the arrays rotate with too long a period");
  if (facts.launches == 0) return plainly(facts, "there are too few launches");
  if (facts.launches * period > most_launches) return plainly(facts, "there are too many launches");
  if (!facts.has_messages) return plan_whole_blocks(facts, period);
  if (facts.launches < 2) return plainly(facts, "there are too few launches");
  if (facts.blocks + facts.earlier_blocks < least_runs * period)
    return plainly(facts, "there are too few blocks");
  return {1, period, 0, {}};
}

}  // namespace tessera
