#include "src/execution/phase_timer.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("execution/probe");

namespace {

std::vector<Span> spans_of(SpanRing const& ring) {
  std::vector<Span> spans;
  ring.visit([&](Span const& span) { spans.push_back(span); });
  return spans;
}

void spin_for_a_while() {
  auto const begin = PhaseTimer::now();
  while (PhaseTimer::now() - begin < 1000) {
  }
}

}  // namespace

TEST_CASE("the time since the last call goes to the phase and the row that were named") {
  PhaseTimer timer(2, 0);
  timer.begin(1);
  spin_for_a_while();
  timer.end_of(Phase::wait);
  timer.end_of(Phase::kernel);
  timer.end();

  auto const& times = timer.times(1);
  CHECK(times[static_cast<std::size_t>(Phase::wait)] >= 1000);
  CHECK(times[static_cast<std::size_t>(Phase::pack)] == 0);
  CHECK(timer.times(0) == PhaseTimer::Times{});
}

TEST_CASE("phases of a row add up from statement to statement") {
  PhaseTimer timer(1, 0);
  for (int run = 0; run < 3; ++run) {
    timer.begin(0);
    spin_for_a_while();
    timer.end_of(Phase::kernel);
    timer.end();
  }
  CHECK(timer.times(0)[static_cast<std::size_t>(Phase::kernel)] >= 3000);
}

TEST_CASE("a trace has the phases without gaps, and behind them the statement around them") {
  PhaseTimer timer(4, 16);
  timer.begin(3);
  spin_for_a_while();
  timer.end_of(Phase::pack);
  timer.end_of(Phase::kernel);
  timer.end();

  auto const spans = spans_of(timer.ring());
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].phase == Phase::pack);
  CHECK(spans[1].phase == Phase::kernel);
  CHECK(spans[1].begin_ns == spans[0].end_ns);
  CHECK(spans[2].phase == Phase::statement);
  CHECK(spans[2].begin_ns == spans[0].begin_ns);
  CHECK(spans[2].end_ns == spans[1].end_ns);
  for (auto const& span : spans) CHECK(span.row == 3);
}

TEST_CASE("a full ring keeps the last spans, oldest first, and counts the others") {
  SpanRing ring(4);
  for (std::uint32_t row = 0; row < 6; ++row) ring.add({0, 0, row, Phase::wait});

  CHECK(ring.overwritten() == 2);
  auto const spans = spans_of(ring);
  REQUIRE(spans.size() == 4);
  CHECK(spans.front().row == 2);
  CHECK(spans.back().row == 5);
}

TEST_CASE("a ring without room is off") {
  CHECK_FALSE(SpanRing().is_on());
  CHECK(SpanRing(1).is_on());
}

TEST_SUITE_END();
