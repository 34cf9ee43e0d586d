#include "src/base/yielder.hpp"

#include <chrono>

#include <doctest/doctest.h>

namespace {

using namespace std::chrono_literals;
using tessera::YieldRule;

/// How often the rule asks for a sleep before it allows a yield.
int sleeps_of(YieldRule& rule) {
  int sleeps = 0;
  while (!rule.may_yield()) ++sleeps;
  return sleeps;
}

TEST_SUITE("base/yielder") {
  TEST_CASE("a thread yields as long as yields return at once") {
    YieldRule rule;
    for (int time = 0; time < 100; ++time) {
      CHECK(rule.may_yield());
      rule.yielded(2us);
    }
  }

  TEST_CASE("after long yields it sleeps, twice as often after each") {
    YieldRule rule;
    for (int expected = YieldRule::first_sleeps; expected <= YieldRule::most_sleeps;
         expected *= 2) {
      rule.yielded(4ms);
      CHECK(sleeps_of(rule) == expected);
    }
    rule.yielded(4ms);
    CHECK(sleeps_of(rule) == YieldRule::most_sleeps);
  }

  TEST_CASE("many short yields in a row end that, a few do not") {
    YieldRule rule;
    for (int time = 0; time < 5; ++time) {
      rule.yielded(4ms);
      (void)sleeps_of(rule);
    }
    rule.yielded(1us);
    CHECK(rule.may_yield());
    rule.yielded(4ms);
    CHECK(sleeps_of(rule) == 32 * YieldRule::first_sleeps);
    for (int time = 0; time < YieldRule::yields_of_free_core; ++time) rule.yielded(1us);
    CHECK(rule.may_yield());
    rule.yielded(4ms);
    CHECK(sleeps_of(rule) == YieldRule::first_sleeps);
  }

  TEST_CASE("a thread that gives its core away returns") {
    tessera::Yielder yielder;
    for (int time = 0; time < 100; ++time) (void)yielder.yield_or_sleep();
    CHECK((yielder.yield() || yielder.yield() || true));
  }
}

}  // namespace
