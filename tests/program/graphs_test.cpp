// Blocks of loops that GPUs are brought as graphs: emulated ones, which do what is kept in a graph
// as it was when it was kept.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "src/base/text.hpp"

#include "support/device_kinds.hpp"
#include "support/left_out.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("program/graphs");

namespace {

auto const inner = range(1, -1);
auto const left = range(0, -2);
auto const right = from(2);

DistArray<double, 1> line(std::int64_t cells) {
  return from_index<double>({cells}, {Mesh({{"x", device_count()}}), P("x")},
                            [](auto i) { return static_cast<double>((i[0] * 7919) % 1009); });
}

template <class Array>
void heat(Array& u) {
  u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);
}

bool says(LoopExplanation const& explanation, std::string const& words) {
  return text(explanation).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a GPU is brought many blocks in one go, and what comes behind messages" *
          test::emulated_only()) {
  auto plain = line(90);
  for (int s = 0; s < 403; ++s) heat(plain);
  for (auto const depth : {1, 2, 5}) {
    CAPTURE(depth);
    auto u = line(90);
    auto program = record([&] { heat(u); }, {depth, {}, false});
    program.run(403);

    CHECK(u.to_host() == plain.to_host());
    auto const explanation = program.explain();
    if (device_count() == 1) {
      CHECK(explanation.graph_blocks >= 8);
      CHECK(says(explanation,
                 text("GPUs run ", explanation.graph_blocks, " blocks with one launch")));
    } else if (depth > 1) {
      CHECK(explanation.graph_blocks == 1);
      CHECK(says(explanation, "GPUs run 1 block with one launch, as a graph"));
    }
  }
}

TEST_CASE("ghost cells that a device copies from its own are part of a graph" *
          test::emulated_only()) {
  auto const step = [](auto& u) { u = 0.8 * u + 0.1 * roll(u, 1) + 0.1 * roll(u, -1); };
  auto plain = line(90);
  for (int s = 0; s < 203; ++s) step(plain);
  auto u = line(90);
  auto program = record([&] { step(u); }, {2, {}});
  program.run(203);

  CHECK(u.to_host() == plain.to_host());
  CHECK(program.explain().graph_blocks >= (device_count() == 1 ? 8 : 1));
}

TEST_CASE("what is computed while messages travel is a graph of its own" * test::emulated_only()) {
  if (test::left_out_if(device_count() == 1, "it needs 2 devices")) return;
  auto const cells = 100 * device_count();
  auto plain = line(cells);
  for (int s = 0; s < 203; ++s) heat(plain);
  auto u = line(cells);
  auto program = record([&] { heat(u); }, {4, {}, true});
  program.run(203);

  CHECK(u.to_host() == plain.to_host());
  CHECK(program.explain().early_tasks == 4);
  CHECK(program.explain().graphs == 2);
}

TEST_CASE("devices on the host have no graphs, and an explanation says nothing of them" *
          test::host_only()) {
  auto u = line(90);
  auto program = record([&] { heat(u); }, {2, {}});
  program.run(403);

  CHECK(program.explain().graph_blocks == 0);
  CHECK(program.explain().graph_fallback_reason.empty());
  CHECK_FALSE(says(program.explain(), "GPU"));
}

TEST_CASE("graphs can be switched off" * test::emulated_only()) {
  auto u = line(90);
  auto program = record([&] { heat(u); }, {.depth = 2, .graphs = false});
  program.run(403);

  CHECK(program.explain().graph_blocks == 0);
  CHECK_FALSE(says(program.explain(), "GPU"));
}

TEST_CASE("a kernel that is told the number of the step is no part of a graph" *
          test::emulated_only()) {
  auto const run = [](auto const& loop) {
    auto u = line(90);
    loop([&](Step t) {
      heat(u);
      u = u + 0.1 * t;
    });
    return u.to_host();
  };
  auto const plain = run([](auto const& body) {
    for (int s = 0; s < 200; ++s) body(Step(s));
  });
  LoopExplanation explanation;

  auto const in_blocks = run([&](auto const& body) {
    auto program = record(body, {2, {}});
    program.run(200);
    explanation = program.explain();
  });

  CHECK(in_blocks == plain);
  CHECK(explanation.graph_blocks == 0);
  CHECK(says(explanation, "launch by launch, without graphs: kernels use the number of the step"));
}

TEST_CASE("a run that is too short for graphs says so" * test::emulated_only()) {
  auto u = line(90);
  auto program = record([&] { heat(u); }, {4, {}});
  program.run(2 + 8);

  CHECK(says(program.explain(), "launch by launch, without graphs: there are too few blocks"));
}

TEST_CASE("a longer run makes no more graphs, and another one none" * test::emulated_only()) {
  auto const graphs_of = [](std::int64_t steps, int runs) {
    auto u = line(90);
    auto v = line(90);
    auto program = record(
        [&] {
          v(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);
          std::swap(u, v);
        },
        {3, {}, false});
    for (int i = 0; i < runs; ++i) program.run(steps);
    CHECK(program.explain().graph_blocks > 0);
    return program.explain().graphs;
  };

  // Of 3 steps, between which the arrays change their places: the period is 2 blocks.
  auto const few = graphs_of(2 + 3 * 2 * 100, 1);
  CHECK(few == (device_count() == 1 ? 1 : 2));
  CHECK(graphs_of(2 + 3 * 2 * 1000, 1) == few);
  CHECK(graphs_of(2 + 3 * 2 * 100, 5) == few);
}

TEST_CASE("statements between two runs may change which buffers hold the cells") {
  auto const run = [](auto const& loop) {
    auto u = line(90);
    auto v = line(90);
    for (int round = 0; round < 6; ++round) {
      loop([&] {
        heat(v);
        heat(u);
        std::swap(u, v);
      });
      for (int i = 0; i < round; ++i) heat(u);
      v(inner) = 0.5 * v(inner) + 0.25 * u(left);
    }
    return std::pair(u.to_host(), v.to_host());
  };
  auto const plain = run([](auto const& body) {
    for (int s = 0; s < 41; ++s) body();
  });
  for (auto const depth : {1, 2, 3}) {
    CAPTURE(depth);
    CHECK(run([&](auto const& body) { iterate(41, body, {depth, {}}); }) == plain);
  }
}

TEST_CASE("a program whose graphs are kept runs on from other buffers") {
  auto const run = [](auto const& steps_of) {
    auto u = line(90);
    auto v = line(90);
    auto factor = sum(0.0 * u) + 1e-3;
    auto body = [&] {
      v(inner) = 0.8 * u(inner) + 0.1 * u(left) + factor * u(right);
      std::swap(u, v);
    };
    auto const go_on = steps_of(body);
    for (int round = 0; round < 6; ++round) {
      go_on(40 + round);
      for (int i = 0; i < round; ++i) heat(u);
    }
    return std::pair(u.to_host(), v.to_host());
  };
  auto const plain = run([](auto& body) {
    return [&](int steps) {
      for (int s = 0; s < steps; ++s) body();
    };
  });
  for (auto const depth : {1, 2, 3}) {
    CAPTURE(depth);
    auto const kept = run([&](auto& body) {
      return [program = std::make_shared<Program>(record(body, {depth, {}}))](int steps) {
        program->run(steps);
      };
    });
    CHECK(kept == plain);
  }
}

TEST_SUITE_END();
