#include "src/plan/graph_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/brute_force.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::Random;

TEST_SUITE_BEGIN("plan/graph_plan");

namespace {

using After = std::vector<BlockBuffer>;

After const nothing_changes{{0, 0}, {1, 0}};
After const other_buffer{{0, 1}, {1, 0}};

GraphFacts facts(std::int64_t blocks, std::int64_t launches) {
  GraphFacts result;
  result.blocks = blocks;
  result.launches = launches;
  return result;
}

// Arrays in rings of random lengths, some of whose buffers swap.
After random_after(Random& random) {
  After after;
  std::vector<std::size_t> order(static_cast<std::size_t>(random.between(1, 7)));
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i],
              order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
  for (auto const array : order)
    after.push_back({array, static_cast<std::size_t>(random.between(0, 1))});
  return after;
}

// The least common multiple of the rings, those in which an odd number of buffers swap twice.
std::int64_t period_by_rings(After const& after) {
  std::int64_t period = 1;
  for (std::size_t a = 0; a < after.size(); ++a) {
    std::int64_t length = 0;
    std::size_t swaps = 0;
    std::size_t at = a;
    do {
      swaps += after[at].which;
      ++length;
      at = after[at].array;
    } while (at != a);
    period = std::lcm(period, swaps % 2 == 0 ? length : 2 * length);
  }
  return period;
}

// Where the buffers lie after each block, with the buffers at the start first.
std::vector<After> states(After const& after, std::int64_t blocks) {
  std::vector<After> all(1);
  for (std::size_t a = 0; a < after.size(); ++a) all.front().push_back({a, 0});
  for (std::int64_t block = 0; block < blocks; ++block) {
    After next;
    for (auto const& [array, which] : after)
      next.push_back({all.back()[array].array, all.back()[array].which ^ which});
    all.push_back(std::move(next));
  }
  return all;
}

}  // namespace

TEST_CASE("a period ends when all arrays are called as before, each in its first buffer") {
  CHECK(period_of({}) == 1);
  CHECK(period_of(nothing_changes) == 1);
  CHECK(period_of(other_buffer) == 2);
  CHECK(period_of({{1, 0}, {0, 0}}) == 2);
  CHECK(period_of({{1, 1}, {0, 0}}) == 4);
  CHECK(period_of({{1, 1}, {0, 1}}) == 2);
  CHECK(period_of({{1, 0}, {2, 0}, {0, 0}}) == 3);
  CHECK(period_of({{1, 0}, {2, 1}, {0, 0}, {3, 1}}) == 6);
}

TEST_CASE("a period of too many blocks is none") {
  auto const ring = [](std::size_t length) {
    After after;
    for (std::size_t a = 0; a < length; ++a) after.push_back({(a + 1) % length, 0});
    return after;
  };
  CHECK(period_of(ring(64)) == 64);
  CHECK(period_of(ring(65)) == 0);
  CHECK(plan_graphs(facts(1'000'000, 1), 0).blocks == 0);
}

TEST_CASE("without messages a graph has enough launches, in whole periods") {
  CHECK(plan_graphs(facts(1000, 1), 1) == GraphPlan{64, 1, 1000 % 64, {}});
  CHECK(plan_graphs(facts(1000, 10), 1) == GraphPlan{4, 1, 0, {}});
  CHECK(plan_graphs(facts(1000, 10), 3) == GraphPlan{6, 1, 1000 % 6, {}});
  CHECK(plan_graphs(facts(1000, 500), 3) == GraphPlan{3, 1, 1, {}});
}

TEST_CASE("few blocks make short graphs, or none") {
  CHECK(plan_graphs(facts(40, 1), 1) == GraphPlan{8, 1, 0, {}});
  CHECK(plan_graphs(facts(8, 10), 2) == GraphPlan{2, 1, 0, {}});
  CHECK(plan_graphs(facts(7, 10), 2).fallback_reason == "there are too few blocks");
  CHECK(plan_graphs(facts(7, 1), 1).fallback_reason == "there are too few launches");
  CHECK(plan_graphs(facts(0, 10), 1).fallback_reason == "there are too few blocks");
}

TEST_CASE("blocks of earlier runs count, but a graph is no longer than a run") {
  auto again = facts(3, 10);
  again.earlier_blocks = 5;
  CHECK(plan_graphs(again, 1) == GraphPlan{2, 1, 1, {}});
  again.earlier_blocks = 1000;
  CHECK(plan_graphs(again, 1) == GraphPlan{2, 1, 1, {}});
  CHECK(plan_graphs(again, 3) == GraphPlan{3, 1, 0, {}});
  CHECK(plan_graphs(again, 4).blocks == 0);
}

TEST_CASE("with messages there is a graph for each way in which the buffers lie") {
  auto told = facts(100, 10);
  told.has_messages = true;
  CHECK(plan_graphs(told, 1) == GraphPlan{1, 1, 0, {}});
  CHECK(plan_graphs(told, 6) == GraphPlan{1, 6, 0, {}});
  CHECK(plan_graphs(told, 26).fallback_reason == "there are too few blocks");
  told.launches = 1;
  CHECK(plan_graphs(told, 1).fallback_reason == "there are too few launches");
}

TEST_CASE("kernels that are told the step, and very many launches, are brought plainly") {
  auto counted = facts(1000, 10);
  counted.counts_steps = true;
  CHECK(plan_graphs(counted, 1) == GraphPlan{0, 0, 1000, "kernels use the number of the step"});
  CHECK(plan_graphs(facts(1000, 2049), 2).fallback_reason == "there are too many launches");
  CHECK(plan_graphs(facts(1000, 2048), 2).blocks == 2);
}

TEST_CASE("whenever a graph is run the buffers lie as when it was made") {
  Random random(test::seed_of_all(1));
  std::int64_t in_graphs = 0;
  for (int round = 0; round < 3000; ++round) {
    auto const after = random_after(random);
    auto told = facts(random.between(0, 300), random.between(0, 40));
    told.earlier_blocks = random.between(0, 1) * random.between(0, 300);
    told.has_messages = random.chance();
    CAPTURE(round);

    auto const period = period_of(after);
    auto const plan = plan_graphs(told, period);

    auto const expected = period_by_rings(after);
    REQUIRE(period == (expected > most_period ? 0 : expected));
    REQUIRE((plan.blocks == 0) == !plan.fallback_reason.empty());
    if (plan.blocks == 0) continue;
    ++in_graphs;
    REQUIRE(plan.rest == told.blocks % plan.blocks);
    auto const all = states(after, told.blocks);
    std::map<std::int64_t, After> made;
    for (std::int64_t run = 0; run < told.blocks / plan.blocks; ++run) {
      auto const& lie = all[static_cast<std::size_t>(run * plan.blocks)];
      REQUIRE(made.try_emplace(run % plan.graphs, lie).first->second == lie);
    }
    REQUIRE(std::ssize(made) <= plan.graphs);
    REQUIRE((told.blocks + told.earlier_blocks) / (plan.blocks * plan.graphs) >= least_runs);
    REQUIRE(plan.blocks * plan.graphs * told.launches <= most_launches);
  }
  CHECK(in_graphs > 1000);
}

TEST_SUITE_END();
