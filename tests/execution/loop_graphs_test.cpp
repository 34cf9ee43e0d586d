// What is kept of a loop's work from run to run, with an emulated GPU.
#include "src/execution/loop_graphs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/device/device_memory.hpp"
#include "src/device/driver.hpp"
#include "src/execution/storage/scalar_state.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/loop_graphs");

namespace {

using Buffers = std::vector<std::byte*>;
using Scalar = std::array<std::byte, ScalarState::most_bytes>;

std::array<std::byte, 4> places{};
Buffers const first{&places[0], &places[1]};
Buffers const second{&places[1], &places[0]};

LoopGraphs::Kept const* made(LoopGraphs& graphs, Queue& stream, std::int64_t blocks,
                             Buffers const& buffers) {
  return graphs.make(stream, {GraphPart::blocks, blocks, buffers, nullptr}, [] {});
}

GraphFacts facts(std::int64_t blocks) {
  GraphFacts result;
  result.blocks = blocks;
  result.launches = 32;
  return result;
}

}  // namespace

TEST_CASE("a graph is found again by its part and its buffers, the longest that fits") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  LoopGraphs graphs;
  graphs.begin({});
  auto const* const two = made(graphs, *stream, 2, first);
  auto const* const eight = made(graphs, *stream, 8, first);

  CHECK(graphs.find(GraphPart::blocks, first, 100) == eight);
  CHECK(graphs.find(GraphPart::blocks, first, 7) == two);
  CHECK(graphs.find(GraphPart::blocks, first, 1) == nullptr);
  CHECK(graphs.find(GraphPart::blocks, second, 100) == nullptr);
  CHECK(graphs.find(GraphPart::late, first, 100) == nullptr);
  CHECK(made(graphs, *stream, 2, second) != nullptr);
  CHECK(graphs.find(GraphPart::blocks, second, 100) != nullptr);
}

TEST_CASE("graphs stay from run to run until a scalar has another value") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  Scalar scalar{};
  std::vector<std::vector<std::byte const*>> const scalars{{}, {scalar.data()}};
  LoopGraphs graphs;
  graphs.begin(scalars);
  REQUIRE(made(graphs, *stream, 2, first) != nullptr);

  graphs.begin(scalars);
  CHECK(graphs.find(GraphPart::blocks, first, 2) != nullptr);
  scalar[3] = std::byte{1};
  graphs.begin(scalars);
  CHECK(graphs.find(GraphPart::blocks, first, 2) == nullptr);
}

TEST_CASE("runs that are short pay together, unless their scalars change") {
  Scalar scalar{};
  std::vector<std::vector<std::byte const*>> const scalars{{scalar.data()}};
  LoopGraphs graphs;
  graphs.begin(scalars);
  CHECK(graphs.plan(facts(3), 1).blocks == 0);
  graphs.begin(scalars);
  CHECK(graphs.plan(facts(3), 1).blocks == 1);
  graphs.begin(scalars);
  CHECK(graphs.plan(facts(3), 1).blocks == 2);

  scalar[0] = std::byte{1};
  graphs.begin(scalars);
  CHECK(graphs.plan(facts(3), 1).blocks == 0);
}

TEST_CASE("arrays that lie in ever other buffers do not make ever more graphs") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  std::vector<std::byte> many(1000);
  LoopGraphs graphs;
  std::int64_t kept = 0;
  for (auto& place : many) {
    graphs.begin({});
    REQUIRE(made(graphs, *stream, 1, {&place}) != nullptr);
  }
  for (auto& place : many) kept += graphs.find(GraphPart::blocks, {&place}, 1) != nullptr ? 1 : 0;

  CHECK(kept < 200);
}

TEST_CASE("where a GPU refuses a graph, the loop goes on without") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  LoopGraphs graphs;
  graphs.begin({});
  CHECK(graphs.plan(facts(1000), 1).blocks > 0);
  auto const refused = [&] {
    return graphs.make(*stream, {GraphPart::block, 1, first, nullptr},
                       [&] { (void)stream->is_idle(); });
  };

  CHECK(refused() == nullptr);
  CHECK(graphs.plan().fallback_reason == "the GPU refuses them");
  CHECK(made(graphs, *stream, 2, first) == nullptr);
  CHECK(graphs.plan(facts(1000), 1).blocks == 0);
  wait_for(*stream);
}

TEST_CASE("what else goes wrong while a graph is made is thrown") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  LoopGraphs graphs;
  auto const wrong = [&] {
    (void)graphs.make(*stream, {GraphPart::block, 1, first, nullptr},
                      [] { throw UsageError("not today"); });
  };

  CHECK_THROWS_WITH_AS(wrong(), "not today", UsageError);
}

TEST_SUITE_END();
