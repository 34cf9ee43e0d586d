#include "src/runtime/profiler/profiler.hpp"

#include <doctest/doctest.h>

#include "src/statement/statement.hpp"

#include "support/one_process.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("runtime/profiler");

namespace {

CompiledStatement plan_sending(std::int64_t messages, std::int64_t bytes) {
  CompiledStatement plan;
  plan.messages = messages;
  plan.bytes = bytes;
  return plan;
}

}  // namespace

TEST_CASE("totals count statements, plans, and what was sent") {
  test::OneProcess const job(1);
  Profiler profiler({}, job.job);

  profiler.count_plan();
  profiler.count(Statement{}, plan_sending(2, 16));
  profiler.count(Statement{}, plan_sending(1, 8));

  CHECK(profiler.totals() == Counters{2, 3, 24, 1});
}

TEST_CASE("the first block of a loop sends by its own plan, all others by the later one") {
  test::OneProcess const job(1);
  Profiler profiler({}, job.job);
  Loop loop{LoweredLoop{}};
  loop.steps = 4;
  loop.statements = 2;
  loop.first = std::make_shared<CompiledStatement>(plan_sending(3, 30));
  loop.later = std::make_shared<CompiledStatement>(plan_sending(1, 10));

  profiler.count(LoopRun{loop, {}, 5, 0});

  CHECK(profiler.totals() == Counters{5 * 4 * 2, 3 + 4, 30 + 40, 0});
}

TEST_CASE("explanations go to the sink that was set last") {
  test::OneProcess const job(1);
  Profiler profiler({}, job.job);
  Explanations outer;
  Explanations inner;
  CHECK(profiler.explain_into(&outer) == nullptr);
  profiler.count(Statement{}, {});
  CHECK(profiler.explain_into(&inner) == &outer);
  profiler.count(Statement{}, {});
  CHECK(profiler.explain_into(nullptr) == &inner);
  profiler.count(Statement{}, {});

  CHECK(outer.statements.size() == 1);
  CHECK(inner.statements.size() == 1);
}

TEST_CASE("nobody looks at the devices' time unless the environment asks for it") {
  test::OneProcess const job(1);
  Profiler quiet({}, job.job);
  CHECK_FALSE(quiet.observes());
  CHECK(quiet.timer(0) == nullptr);
  CHECK(quiet.row_of(Statement{}, {}) == 0);
  bool has_combined = false;
  quiet.show(job.job, Refused(), [&](auto, auto) { has_combined = true; });
  CHECK_FALSE(has_combined);

  ObserverOptions options;
  options.reports = true;
  Profiler reporting(options, job.job);
  CHECK(reporting.observes());
  CHECK(reporting.timer(0) != nullptr);
}

TEST_SUITE_END();
