#include "src/transport/protocol/replay_window.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("transport/protocol/replay_window");

TEST_CASE("counters in a row are taken, each once") {
  ReplayWindow<64> window;
  for (std::uint64_t counter = 1; counter <= 1000; ++counter) {
    CHECK(window.take(counter));
    CHECK_FALSE(window.take(counter));
  }
}

TEST_CASE("a message may be overtaken by 63 others, not by 64") {
  ReplayWindow<64> window;
  CHECK(window.take(100));

  CHECK(window.take(37));
  CHECK_FALSE(window.take(37));
  CHECK_FALSE(window.take(36));
}

TEST_CASE("no message has counter 0, and the largest one ends the row") {
  ReplayWindow<64> window;
  constexpr auto largest = std::numeric_limits<std::uint64_t>::max();

  CHECK_FALSE(window.take(0));
  CHECK(window.take(largest));
  CHECK_FALSE(window.take(largest));
  CHECK_FALSE(window.take(1));
}

TEST_CASE("any order is judged as a list of all counters would judge it") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    ReplayWindow<128> window;
    std::set<std::uint64_t> taken;
    std::uint64_t newest = 0;
    for (int i = 0; i < 500; ++i) {
      auto const step = std::uint64_t{random() % 8 == 0 ? 300U : 20U};
      auto const lowest = newest > 200 ? newest - 200 : 0;
      auto const counter = lowest + random() % (newest - lowest + step);
      bool const is_old = counter + 128 <= newest;
      bool const expected = counter != 0 && !is_old && !taken.contains(counter);
      if (expected) taken.insert(counter);
      if (expected) newest = std::max(newest, counter);
      REQUIRE(window.take(counter) == expected);
    }
  }
}

TEST_SUITE_END();
