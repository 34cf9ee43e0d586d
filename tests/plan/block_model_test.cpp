#include "src/plan/block_model.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("plan/block_model");

namespace {

constexpr std::int64_t all = whole_extent;

// A process of a job of two, where a message takes no time to speak of.
MachineFacts machine() {
  return {{48 << 10, 1 << 20}, 0.5e-6};
}

// A stencil of nearest neighbours on doubles, cut in two along the first dimension.
LoopFacts heat(Shape const& extents) {
  LoopFacts facts;
  facts.extents = extents;
  facts.reach = Index(extents.size(), 2);
  facts.sides = Index(extents.size(), 0);
  facts.sides[0] = 1;
  facts.bytes_per_cell = 24;
  facts.reads_per_cell = static_cast<double>(2 * extents.size() + 2);
  facts.buffers_bytes = 16;
  return facts;
}

}  // namespace

TEST_CASE("what fits a cache is not tiled") {
  CHECK(BlockModel(heat({1000}), machine()).best_tile(16) == Index{all});
  CHECK(BlockModel(heat({200, 300}), machine()).best_tile(16) == Index{all, all});
  CHECK(BlockModel(heat({4096, 4096}), machine()).best_tile(1) == Index{all, all});
}

TEST_CASE("a line is tiled for the nearest cache") {
  CHECK(BlockModel(heat({32768}), machine()).best_tile(16) == Index{2304});
}

TEST_CASE("rows of one field are cut so that the nearest cache holds a few") {
  CHECK(BlockModel(heat({2048, 4096}), machine()).best_tile(16) == Index{32, 1024});
  CHECK(BlockModel(heat({2048, 8193}), machine()).best_tile(16) == Index{32, 1024});
  CHECK(BlockModel(heat({2048, 1024}), machine()).best_tile(16) == Index{32, all});
}

TEST_CASE(
    "rows of several fields stay whole where four of them fit, and long ones are cut at lines") {
  auto const fields = [](Shape const& extents) {
    auto facts = heat(extents);
    facts.buffers_bytes = 32;
    return BlockModel(facts, machine());
  };
  CHECK(fields({2048, 2048}).best_tile(16) == Index{8, all});
  CHECK(fields({2048, 4096}).best_tile(16) == Index{4, all});
  CHECK(fields({2048, 4097}).best_tile(16) == Index{4, 4096});
}

TEST_CASE("where there are few rows they are long") {
  CHECK(BlockModel(heat({2, 1 << 20}), machine()).best_tile(16) == Index{all, 16384});
}

TEST_CASE("a block of space has sides of powers of two, the longest in the first dimension") {
  CHECK(BlockModel(heat({128, 256, 256}), machine()).best_tile(16) == Index{24, 8, all});
  CHECK(BlockModel(heat({512, 2, 256}), machine()).best_tile(16) == Index{96, all, all});
}

TEST_CASE("tiles follow the caches, and a cache of nearly nothing is no trouble") {
  auto large = machine();
  large.caches.second *= 2;
  CHECK(BlockModel(heat({2048, 4096}), large).best_tile(16) == Index{64, 1024});

  MachineFacts const none{{0, 0}, 0.5e-6};
  CHECK(BlockModel(heat({2048, 4096}), none).best_tile(16) == Index{1, 64});
  CHECK(BlockModel(heat({32768}), none).best_tile(16) == Index{64});
  CHECK(BlockModel(heat({0, 10}), none).best_tile(16) == Index{all, all});
}

TEST_CASE("slow messages and memory make blocks deep, and cells computed twice make them shallow") {
  auto slow = machine();
  slow.message_seconds = 400e-6;
  CHECK(BlockModel(heat({256, 256}), slow).best_depth() >
        BlockModel(heat({256, 256}), machine()).best_depth());
  CHECK(BlockModel(heat({1 << 24}), machine()).best_depth() >= 32);
  CHECK(BlockModel(heat({128, 256, 256}), machine()).best_depth() == 16);

  auto both_sides = heat({128, 256, 256});
  both_sides.sides = {2, 2, 2};
  CHECK(BlockModel(both_sides, machine()).best_depth() < 16);
}

TEST_CASE("tiles pass over more cells the deeper a block is, so small tiles make it shallow") {
  BlockModel const model(heat({2048, 4096}), machine());
  auto const added = [&](std::int64_t steps) {
    auto const blocks = static_cast<double>(steps);
    return (model.step_seconds(steps, {8, all}) - model.step_seconds(steps, {all, all})) * blocks;
  };
  CHECK(added(64) / added(16) == doctest::Approx(4).epsilon(0.1));

  auto small = machine();
  small.caches.second = 64 << 10;
  CHECK(BlockModel(heat({2048, 4096}), small).best_depth() < model.best_depth());
}

TEST_CASE("a block's ghost cells reach no further than its cells and their neighbours'") {
  auto slow = machine();
  slow.message_seconds = 1;
  CHECK(BlockModel(heat({8}), slow).best_depth() == 8);
}

TEST_CASE("the bottleneck is what takes most of a step") {
  auto slow = machine();
  slow.message_seconds = 1;
  CHECK(BlockModel(heat({8}), slow).bottleneck(8, {all}) == "latency");
  CHECK(BlockModel(heat({2048, 4096}), machine()).bottleneck(1, {all, all}) == "memory");
  CHECK(BlockModel(heat({2048, 4096}), machine()).bottleneck(64, {8, all}) == "compute");
}

TEST_CASE("a block that the caller asks for has at most 4096 statements, and at least one step") {
  auto facts = heat({1000});
  CHECK(BlockModel(facts, machine()).most_depth() == 4096);
  facts.statements = 3;
  CHECK(BlockModel(facts, machine()).most_depth() == 1365);
  facts.statements = 5000;
  CHECK(BlockModel(facts, machine()).most_depth() == 1);
}

TEST_SUITE_END();
