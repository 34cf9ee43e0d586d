#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/runtime/current_runtime.hpp"

#include "line.hpp"

// What a program says of itself, what it refuses, and what happens between its runs.

using namespace tessera;
using test::line;
using test::pieces;

TEST_SUITE_BEGIN("program/record");

namespace {

auto const inner = range(1, -1);
auto const left = range(0, -2);
auto const right = from(2);

template <class Array>
void heat(Array& u) {
  u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);
}

std::string refusal_of(std::function<void(Step)> const& body) {
  try {
    iterate(5, body);
  } catch (UsageError const& error) {
    return error.what();
  }
  return "no error";
}

bool says(std::string const& text, std::string const& what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a program runs as often as it is told, and counts") {
  auto plain = line(50);
  auto u = line(50);
  for (int s = 0; s < 3 + 1 + 20; ++s) heat(plain);

  auto program = record([&] { heat(u); });
  CHECK(program.statements() == 0);
  program.run(3);
  program.run(1);
  program.run(20);

  CHECK(program.steps() == 24);
  CHECK(program.statements() == 1);
  CHECK(u.to_host() == plain.to_host());
}

TEST_CASE("an explanation tells the blocks, or why there are none") {
  auto u = line(64);
  auto program = record([&] { heat(u); }, {4, {}});
  program.run(20);
  auto const explanation = program.explain();
  CHECK(explanation.mode == LoopMode::in_blocks);
  CHECK(explanation.fallback_reason.empty());
  CHECK(explanation.depth == 4);
  CHECK(explanation.period == 1);
  CHECK(explanation.statements.statements.size() == 1);
  CHECK(says(text(explanation), "blocks of 4 steps"));
  CHECK(says(text(explanation), "chosen for caches of"));
  CHECK(explanation.caches.second > 0);
  CHECK(explanation.message_seconds > 0);

  auto summed = record([&] { u = u - 0.01 * sum(u, fast); });
  summed.run(5);
  CHECK(summed.explain().mode == LoopMode::replayed);
  CHECK(says(summed.explain().fallback_reason, "depends on the order of the cells"));
  CHECK(says(text(summed.explain()), "replayed statement by statement: the sum at "));
}

TEST_CASE("a sum whose value a step needs divides the step into parts") {
  auto u = line(64);
  auto program = record([&] { u = u - 0.01 * sum(u); }, {4, {}});
  program.run(20);
  auto const explanation = program.explain();
  if (device_kind() != DeviceKind::cpu) {
    CHECK(says(explanation.fallback_reason, "on GPUs reductions are run one by one"));
    return;
  }
  CHECK(explanation.mode == LoopMode::in_blocks);
  CHECK(explanation.depth == 1);
  CHECK(explanation.parts == 2);
  CHECK(says(text(explanation), "sums divide a step into 2 parts"));
}

TEST_CASE("an explanation says that the body runs in every step, and why") {
  auto u = line(64);
  auto program = record([&] { heat(u); });
  CHECK(says(text(program.explain()), ": not recorded yet"));
  program.run(2);
  CHECK(says(text(program.explain()), "not recorded, since a run of fewer than 3 steps"));
  {
    CommunicationBudget const budget({.messages = 1000});
    program.run(5);
    CHECK(program.explain().mode == LoopMode::plainly);
    CHECK(says(text(program.explain()),
               "not recorded, since a CommunicationBudget may refuse any statement"));
  }
  program.run(5);
  CHECK(program.explain().mode == LoopMode::in_blocks);

  auto inside = record([&] { heat(u); });
  iterate(4, [&] { inside.run(3); });
  CHECK(says(text(inside.explain()), "not recorded, since it is part of a body"));

  std::vector<DistArray<double, 1>> history;
  history.reserve(5);
  auto kept = record([&] {
    heat(u);
    history.push_back(u);
  });
  kept.run(5);
  CHECK(kept.explain().mode == LoopMode::plainly);
  CHECK(says(text(kept.explain()),
             "the body runs in every step: arrays made in a step are still in use"));
}

// Run once more with TESSERA_STRICT=1.
// program_test.strict runs it by --no-skip.
TEST_CASE("an explanation says that gathers are refused" * doctest::skip()) {
  REQUIRE((environment("TESSERA_STRICT") == "1"));
  auto u = line(64);
  auto program = record([&] { heat(u); });
  program.run(5);
  CHECK(says(text(program.explain()), "not recorded, since TESSERA_STRICT may refuse"));
}

TEST_CASE("an explanation tells whether cells are computed while messages travel") {
  auto const early_tasks = [](std::int64_t cells, bool overlap) {
    auto u = line(cells);
    auto program = record([&] { heat(u); }, {4, {}, overlap});
    program.run(12);
    return program.explain().early_tasks;
  };
  bool const is_shared = device_count() > 1;
  CHECK(early_tasks(100 * device_count(), true) == (is_shared ? 4 : 0));
  CHECK(early_tasks(100 * device_count(), false) == 0);
  // Blocks reach farther than the cells of a device are wide.
  CHECK(early_tasks(device_count(), true) == 0);
}

TEST_CASE("deep halos send a message per neighbour and block") {
  auto u = line(8 * 40);
  auto program = record([&] { heat(u); }, {8, {}});
  program.run(2 + 8);
  auto const before = counters();

  program.run(1 + 64);  // the first step runs for real

  auto const sent = counters() - before;
  auto const neighbours = program.explain().messages;
  CHECK(sent.messages == (1 + 8) * neighbours);
  auto const& routes = sent.routes;
  CHECK(routes.local + routes.shm + routes.ucx + routes.mpi + routes.peer + routes.ipc +
            routes.nccl + routes.ucx_gpu ==
        sent.bytes);
}

TEST_CASE("the statements of blocks count as those of a plain loop") {
  auto u = line(64);
  auto program = record([&] { heat(u); }, {8, {}});
  program.run(2 + 8);
  auto const before = counters();

  program.run(1 + 64);

  CHECK((counters() - before).statements == 1 + 64);
}

TEST_CASE("numbers, slices and statements that change from step to step are refused") {
  auto u = line(20);
  double number = 0.5;
  std::int64_t cell = 3;
  int steps = 0;
  CHECK(says(refusal_of([&](Step) { u = (number *= 0.5) * u; }), "a number that changes"));
  CHECK(says(refusal_of([&](Step) { u(range(cell++, none)) = 1.0; }), "other slices"));
  CHECK(says(refusal_of([&](Step) {
               u = 0.5 * u;
               if (steps++ == 0) u = 1.0 + u;
             }),
             "2 statements in its first step and 1 in its second"));
  CHECK(says(refusal_of([&](Step) { number += sum(u); }), "on the host"));
  CHECK(says(refusal_of([&](Step) {
               heat(u);
               (void)u.to_host();
             }),
             "on the host"));

  heat(u);  // and nobody is told any more
  CHECK(u.size() == 20);
}

TEST_CASE("an array that is swapped in but not named by the step is found") {
  auto const run = [](auto const& loop) {
    auto u = line(17);
    auto v = DistArray(2.0 * line(17));
    auto unused = DistArray(3.0 * line(17));
    loop([&] {
      heat(u);
      std::swap(u, v);
      std::swap(v, unused);
    });
    return std::vector{u.to_host(), v.to_host(), unused.to_host()};
  };
  for (int const steps : {3, 7, 8, 9, 20}) {
    auto const plain = run([&](auto const& body) {
      for (int s = 0; s < steps; ++s) body();
    });
    CHECK(run([&](auto const& body) { iterate(steps, body); }) == plain);
  }
}

TEST_CASE("what a step keeps for later keeps the loop plain") {
  auto u = line(20);
  std::vector<DistArray<double, 1>> history;
  history.reserve(20);
  auto program = record([&] {
    heat(u);
    history.push_back(u);
  });
  program.run(10);

  CHECK(history.size() == 10);
  CHECK_FALSE(program.explain().fallback_reason.empty());
  auto again = line(20);
  for (std::size_t s = 0; s < 10; ++s) {
    heat(again);
    CHECK(history[s].to_host() == again.to_host());
  }
}

TEST_CASE("between two runs the program may swap arrays and change numbers") {
  auto u = line(30);
  auto v = DistArray(5.0 * line(30));
  auto plain_u = line(30);
  auto plain_v = DistArray(5.0 * line(30));
  double weight = 0.5;
  auto const step = [&](auto& a) { a(inner) = weight * a(inner) + 0.1 * a(left); };
  auto program = record([&] { step(u); });

  program.run(9);
  std::swap(u, v);
  program.run(9);
  weight = 0.25;
  program.run(9);

  weight = 0.5;
  for (int s = 0; s < 9; ++s) step(plain_u);
  std::swap(plain_u, plain_v);
  for (int s = 0; s < 9; ++s) step(plain_u);
  weight = 0.25;
  for (int s = 0; s < 9; ++s) step(plain_u);
  CHECK(u.to_host() == plain_u.to_host());
  CHECK(v.to_host() == plain_v.to_host());
}

TEST_CASE("a loop ends when it is done, and reports on its way") {
  auto u = line(12);
  std::vector<std::int64_t> seen;
  iterate(
      25, [&] { u = 0.5 * u; }, every(10), [&](std::int64_t done) { seen.push_back(done); });
  CHECK(seen == std::vector<std::int64_t>{10, 20, 25});

  auto v = full<double>({12}, 1.0, pieces());
  auto const steps = iterate_until(
      1000, [&] { v = 0.5 * v; }, every(4), [&] { return max(v) < 0.01; });
  CHECK(steps == 8);
}

TEST_CASE("a loop inside a loop is part of its body") {
  auto u = line(23);
  auto plain = line(23);
  for (int s = 0; s < 12; ++s) {
    for (int k = 0; k < 3; ++k) heat(plain);
    plain = 0.9 * plain;
  }

  iterate(12, [&] {
    iterate(3, [&] { heat(u); });
    u = 0.9 * u;
  });

  CHECK(u.to_host() == plain.to_host());
}

TEST_CASE("the steps of a loop inside a loop are its own") {
  auto u = line(23);
  auto plain = line(23);
  for (int s = 0; s < 12; ++s)
    for (int k = 0; k < 3; ++k) {
      plain = 0.5 * plain + static_cast<std::int64_t>(k);
      plain = 0.5 * plain + static_cast<std::int64_t>(s);
    }

  iterate(12, [&](Step s) {
    iterate(3, [&](Step k) {
      u = 0.5 * u + k;
      u = 0.5 * u + s;
    });
  });

  CHECK(u.to_host() == plain.to_host());
  CHECK_THROWS_AS(iterate(5, [&](Step s) { iterate(3, [&](Step k) { u = u + s + k; }); }),
                  UsageError);
}

TEST_CASE("a body that begins to swap between two runs is recorded anew") {
  auto const run = [](auto const& loop) {
    auto u = line(20);
    auto v = DistArray(3.0 * line(20));
    bool swaps = false;
    loop(
        [&] {
          heat(u);
          if (swaps) std::swap(u, v);
        },
        swaps);
    return std::pair(u.to_host(), v.to_host());
  };
  auto const plain = run([](auto const& body, bool& swaps) {
    for (int s = 0; s < 23; ++s) {
      swaps = s >= 10;
      body();
    }
  });
  CHECK(run([](auto const& body, bool& swaps) {
          auto program = record(body);
          program.run(10);
          swaps = true;
          program.run(13);
        }) == plain);
}

TEST_CASE("a loop of arrays made anew keeps its blocks from run to run") {
  auto u = line(64);
  auto plain = line(64);
  for (int s = 0; s < 200; ++s) plain(inner) = 0.5 * plain(left) + 0.4 * plain(right);
  auto program = record([&] {
    auto next = DistArray(u);
    next(inner) = 0.5 * u(left) + 0.4 * u(right);
    u = std::move(next);
  });
  for (int run = 0; run < 4; ++run) {
    program.run(50);
    CHECK(program.explain().fallback_reason == "");
  }
  CHECK(u.to_host() == plain.to_host());
}

TEST_CASE("the sum of partials that is made when it is first read is no part of a step") {
  Mesh const mesh({{"x", device_count()}});
  auto const v = full<double>({8}, 2.0, {mesh, P(none)});
  auto const parts = to_partial(v, {"x"});
  auto w = full<double>({8}, 0.0, {mesh, P(none)});

  iterate(6, [&] { w = w + parts; });

  CHECK(w.to_host() == std::vector<double>(8, 12.0));
}

TEST_CASE("a program whose options do not fit says so every time") {
  auto u = line(10);
  auto program = record([&] { heat(u); }, {1, {4, 4}});
  CHECK_THROWS_AS(program.run(5), UsageError);
  CHECK_THROWS_AS(program.run(5), UsageError);
}

TEST_CASE("options that cannot be are refused") {
  auto u = line(10);
  CHECK_THROWS_AS(iterate(-1, [&] { heat(u); }), UsageError);
  CHECK_THROWS_AS(iterate(5, [&] { heat(u); }, {-1, {}}), UsageError);
  CHECK_THROWS_AS(iterate(5, [&] { heat(u); }, {1, {-3}}), UsageError);
  CHECK_THROWS_AS(iterate(5, [&] { heat(u); }, {1, {4, 4}}), UsageError);
  CHECK_THROWS_AS(iterate(
                      5, [&] { heat(u); }, every(0), [](std::int64_t) {}),
                  UsageError);
}

TEST_SUITE_END();
