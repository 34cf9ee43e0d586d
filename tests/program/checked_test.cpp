#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "src/base/checks.hpp"
#include "src/base/text.hpp"
#include "src/runtime/engine.hpp"
#include "src/runtime/statement_hooks.hpp"

#include "line.hpp"

// What TESSERA_CHECK=recording finds. program_test.checked runs these cases by --no-skip, and they
// fail where the variable is missing; others skip them.

using namespace tessera;
using test::line;

TEST_SUITE_BEGIN("program/checked" * doctest::skip());

namespace {

constexpr std::int64_t late = 12;

// What a loop of 20 steps says of `body`, which is told whether something is to happen.
std::string said_of(std::function<void(bool)> const& body) {
  std::int64_t step = 0;
  try {
    iterate(20, [&] { body(step++ == late); });
  } catch (UsageError const& error) {
    return error.what();
  }
  return "no error";
}

bool is_found(std::function<void(bool)> const& body) {
  return said_of(body).find("step 12 of the loop at") == 0;
}

}  // namespace

TEST_CASE("what the run is to check is checked") {
  auto const checks = Checks::from_environment();
  CHECK(checks.communication);
  CHECK(checks.recording);
}

TEST_CASE("another statement, number, slice or step number in a late step is found") {
  REQUIRE(detail::checks_recordings());
  auto u = line(20);
  CHECK(said_of([&](bool) { u = 0.5 * u; }) == "no error");
  CHECK(is_found([&](bool now) {
    u = 0.5 * u;
    if (now) u = 1.0 + u;
  }));
  CHECK(is_found([&](bool now) { u = (now ? 0.25 : 0.5) * u; }));
  CHECK(is_found([&](bool now) { u(range(now ? 3 : 2, none)) = 1.0; }));
}

TEST_CASE("arrays that are handed on otherwise in a late step are found") {
  REQUIRE(detail::checks_recordings());
  auto u = line(20);
  auto v = line(20);
  auto w = line(20);
  auto const step = [&] { v = 0.5 * u; };
  CHECK(said_of([&](bool) {
          step();
          std::swap(u, v);
        }) == "no error");
  CHECK(is_found([&](bool now) {
    step();
    std::swap(u, now ? w : v);
  }));
  CHECK(is_found([&](bool now) {
    step();
    (now ? w : v) = 0.5 * v;
  }));
}

TEST_CASE("a late step of a body that makes arrays is compared, too") {
  REQUIRE(detail::checks_recordings());
  auto u = line(20);
  auto const step = [&](double weight) {
    auto next = DistArray(weight * u);
    u = std::move(next);
  };
  CHECK(said_of([&](bool) { step(0.5); }) == "no error");
  CHECK(is_found([&](bool now) { step(now ? 0.25 : 0.5); }));
  CHECK(is_found([&](bool now) {
    auto next = DistArray(0.5 * u);
    if (!now) u = std::move(next);
  }));
  CHECK(is_found([&](bool now) {
    auto const total = sum(u);
    auto const most = max(u);
    u = u - 0.01 * (now ? most : total);
  }));
}

TEST_CASE("a body that runs in every step may do what it likes in a late one") {
  REQUIRE(detail::checks_recordings());
  auto u = line(20);
  std::vector<DistArray<double, 1>> history;
  history.reserve(20);
  CHECK(said_of([&](bool now) {
          u = (now ? 0.25 : 0.5) * u;
          history.push_back(u);
        }) == "no error");
}

TEST_CASE("between two runs a body may change where it is checked") {
  REQUIRE(detail::checks_recordings());
  auto u = line(20);
  auto v = line(20);
  double weight = 0.5;
  auto program = record([&] { u = weight * u; });
  program.run(5);
  std::swap(u, v);
  weight = 0.25;
  program.run(5);
  CHECK(program.explain().mode == LoopMode::plainly);
  CHECK(text(program.explain()).find("since TESSERA_CHECK=recording runs the body") !=
        std::string::npos);
}

TEST_SUITE_END();
