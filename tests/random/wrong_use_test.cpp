#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/random/random.hpp"

#include "cells.hpp"

using namespace tessera;
using random::Key;
using test::holds;
using test::over;

/// A caller's mistake throws on every process before anything is sent, and the program can go on.
TEST_SUITE_BEGIN("random/wrong_use");

namespace {

Key const key(3);
constexpr auto infinity = std::numeric_limits<double>::infinity();
constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Nothing was sent, and the same array still works.
struct Unharmed {
  DistArray<double, 1> u = zeros<double>({6}, over(4));
  Counters before = counters();

  bool still_works() {
    bool const silent = counters() == before;
    u = random::uniform<double>(key);
    return silent && holds(u, test::uniform_cells<double>(key, {6}));
  }
};

}  // namespace

TEST_CASE("no integers between the bounds, or more than the type holds") {
  Unharmed a;
  CHECK_ALL_THROW((void)random::integers(key, 5, 5), UsageError);
  CHECK_ALL_THROW((void)random::integers(key, 5, -5), UsageError);
  CHECK_ALL_THROW((void)random::integers<std::int8_t>(key, 0, 129), UsageError);
  CHECK_ALL_THROW((void)random::integers<std::uint32_t>(key, -1, 4), UsageError);
  CHECK_ALL_THROW((void)random::integers<std::int64_t>(key, 0, ~0ULL), UsageError);
  CHECK_ALL_THROW((void)random::integers(key, 3U, 0U), UsageError);
  CHECK_ALL_THROW((void)random::integers(key, 9, 2, {4}, over(2)), UsageError);
  CHECK_ALL(a.still_works());
}

TEST_CASE("probabilities that are none") {
  Unharmed a;
  CHECK_ALL_THROW((void)random::bernoulli(key, -0.1), UsageError);
  CHECK_ALL_THROW((void)random::bernoulli(key, 1.5), UsageError);
  CHECK_ALL_THROW((void)random::bernoulli(key, not_a_number), UsageError);
  CHECK_ALL_THROW((void)random::bernoulli(key, 2, {4}, over(2)), UsageError);
  CHECK_ALL_THROW((void)random::categorical(key, {0.5, 0.6}), UsageError);
  CHECK_ALL_THROW((void)random::categorical(key, {1.5, -0.5}), UsageError);
  CHECK_ALL_THROW((void)random::categorical(key, {0.5, 0.4}), UsageError);
  CHECK_ALL_THROW((void)random::categorical(key, {not_a_number, 1.0}), UsageError);
  CHECK_ALL(a.still_works());
}

TEST_CASE("intervals without normal numbers") {
  Unharmed a;
  CHECK_ALL_THROW((void)random::truncated_normal(key, 1, 1), UsageError);
  CHECK_ALL_THROW((void)random::truncated_normal(key, 2, 1), UsageError);
  CHECK_ALL_THROW((void)random::truncated_normal(key, not_a_number, 1), UsageError);
  CHECK_ALL_THROW((void)random::truncated_normal(key, 1, not_a_number), UsageError);
  CHECK_ALL_THROW((void)random::truncated_normal(key, 50, infinity), UsageError);
  CHECK_ALL(a.still_works());
}

TEST_CASE("shapes and shardings that cannot be") {
  Unharmed a;
  CHECK_ALL_THROW((void)random::uniform<double>(key, {-1}, over(2)), ShapeError);
  CHECK_ALL_THROW((void)random::uniform<double>(key, {4}, {test::row(2), P("y")}), ShardingError);
  CHECK_ALL(a.still_works());
}

TEST_CASE("keys") {
  CHECK_THROWS_AS((void)key.split(-1), UsageError);
  CHECK_THROWS_WITH_AS((void)key.split(std::int64_t{1} << 62),
                       "this process cannot have the memory for the keys of Key::split: "
                       "4611686018427387904 times 8 bytes; ask for less",
                       Error);
  auto const deep = key.at(Step(0)).fold_in(1).fold_in(2).split<2>()[0].fold_in(3);
  CHECK_THROWS_AS((void)deep.fold_in(4), UsageError);
}

TEST_CASE("messages say what was passed and what to do") {
  auto const message = [](auto const& f) {
    try {
      f();
    } catch (UsageError const& error) {
      return std::string(error.what());
    }
    return std::string();
  };

  CHECK(message([] { (void)random::integers<std::int8_t>(key, 0, 200); }) ==
        "random numbers of int8 from 0 on and below 200: the first must be less than the second, "
        "and int8 must hold all between");
  CHECK(message([] { (void)random::bernoulli(key, 1.5); }) ==
        "bernoulli: a probability is 1.5, which is not in [0, 1]");
  CHECK(message([] {
          (void)random::categorical(key, {0.25, 0.25});
        }) ==
        "categorical: the 2 probabilities add up to 0.5, not to 1; divide each of them by the sum");
}

TEST_SUITE_END();
