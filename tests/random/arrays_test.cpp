#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/random/random.hpp"

#include "cells.hpp"

using namespace tessera;
using random::Key;
using test::by_number;
using test::holds;
using test::over;
using test::uniform_cell;
using test::uniform_cells;

/// Random numbers have the same bits on any devices, in any layout, and wherever they are drawn.
TEST_SUITE_BEGIN("random/arrays");

namespace {

Key const key(2026);

/// Whether f(shape, sharding) gives the same cells in all layouts as on one device.
template <class F>
void check_layouts(F const& f) {
  std::int64_t const row[] = {1037};
  auto const line = f(row, over(1)).to_host();
  for (auto const& sharding : test::layouts_of_row(row[0])) {
    CAPTURE(sharding);
    CHECK_ALL(holds(f(row, sharding), line));
  }
  std::int64_t const extents[] = {13, 31};
  auto const plane = f(extents, over(1, 1)).to_host();
  for (auto const& sharding : test::layouts_of_plane(13, 31)) {
    CAPTURE(sharding);
    CHECK_ALL(holds(f(extents, sharding), plane));
  }
}

}  // namespace

TEST_CASE("uniform numbers are their cell's bits in every layout") {
  for (std::int64_t const cells : {1, 5, 256, 1037})
    for (auto const& sharding : test::layouts_of_row(cells)) {
      CAPTURE(sharding);
      CHECK_ALL(holds(random::uniform<double>(key, {cells}, sharding),
                      uniform_cells<double>(key, {cells})));
      CHECK_ALL(holds(random::uniform<float>(key, {cells}, sharding),
                      uniform_cells<float>(key, {cells})));
    }
  for (auto const& sharding : test::layouts_of_plane(7, 331)) {
    CAPTURE(sharding);
    CHECK_ALL(holds(random::uniform<double>(key, {7, 331}, sharding),
                    uniform_cells<double>(key, {7, 331})));
    CHECK_ALL(holds(random::uniform<float>(key, {7, 331}, sharding),
                    uniform_cells<float>(key, {7, 331})));
  }
}

TEST_CASE("all distributions have the same bits in every layout") {
  check_layouts([](auto& n, auto const& s) { return random::normal<double>(key, n, s); });
  check_layouts([](auto& n, auto const& s) { return random::normal<float>(key, n, s); });
  check_layouts([](auto& n, auto const& s) { return random::exponential<double>(key, n, s); });
  check_layouts([](auto& n, auto const& s) { return random::exponential<float>(key, n, s); });
  check_layouts(
      [](auto& n, auto const& s) { return random::truncated_normal<double>(key, 0.5, 9, n, s); });
  check_layouts(
      [](auto& n, auto const& s) { return random::truncated_normal<float>(key, -2, 2, n, s); });
  check_layouts(
      [](auto& n, auto const& s) { return random::integers<std::int32_t>(key, -3, 11, n, s); });
  check_layouts([](auto& n, auto const& s) {
    return random::integers<std::int64_t>(key, 0, (std::int64_t{1} << 62) + 1, n, s);
  });
  check_layouts([](auto& n, auto const& s) { return random::bernoulli(key, 0.3, n, s); });
  check_layouts([](auto& n, auto const& s) {
    return random::categorical<std::int8_t>(key, {0.25, 0, 0.5, 0.25}, n, s);
  });
  check_layouts([](auto& n, auto const& s) { return random::uniform<float16>(key, n, s); });
  check_layouts([](auto& n, auto const& s) { return random::normal<bfloat16>(key, n, s); });
}

TEST_CASE("numbers of 16 bits are the upper bits of the cell's word") {
  auto const word = [](std::int64_t i) {
    return detail::random_word<std::uint32_t>(key.value(), 0, static_cast<std::uint64_t>(i));
  };
  CHECK_ALL(holds(random::uniform<float16>(key, {100}, over(3)),
                  by_number<float16>({100}, [&](std::int64_t i) {
                    return static_cast<float>(word(i) >> 21U) / 2048;
                  })));
  CHECK_ALL(holds(random::uniform<bfloat16>(key, {100}, over(3)),
                  by_number<bfloat16>({100}, [&](std::int64_t i) {
                    return static_cast<float>(word(i) >> 24U) / 256;
                  })));
}

TEST_CASE("integers of all ranges") {
  auto const least = std::numeric_limits<std::int32_t>::min();
  auto const word = [](std::int64_t i) {
    return detail::random_word<std::uint32_t>(key.value(), 0, static_cast<std::uint64_t>(i));
  };

  CHECK_ALL(holds(random::integers<std::uint32_t>(key, 0, 1LL << 32, {50}, over(2)),
                  by_number<std::uint32_t>({50}, word)));
  CHECK_ALL(holds(random::integers<std::int32_t>(key, least, 1LL << 31, {50}, over(2)),
                  by_number<std::int32_t>({50}, [&](std::int64_t i) {
                    return static_cast<std::int64_t>(word(i)) + least;
                  })));
  CHECK_ALL(holds(random::integers<std::uint8_t>(key, 0, 256, {50}, over(2)),
                  by_number<std::uint8_t>({50}, [&](std::int64_t i) { return word(i) >> 24U; })));
  CHECK_ALL(holds(random::integers(key, 7, 8, {3}, over(2)), std::vector<std::int64_t>(3, 7)));
}

TEST_CASE("a rejected number is drawn again, lane by lane") {
  constexpr std::uint64_t count = (1ULL << 31U) + 1;
  auto const expected = by_number<std::uint32_t>({500}, [&](std::int64_t i) {
    for (std::uint64_t draw = 0;; ++draw) {
      auto const cell = static_cast<std::uint64_t>(i);
      auto const product = count * detail::philox(key.value(), draw, cell / 4).words[cell % 4];
      if ((product & 0xffff'ffffU) >= (1ULL << 32U) % count) return product >> 32U;
    }
  });

  CHECK_ALL(holds(random::integers<std::uint32_t>(key, 0, count, {500}, over(3)), expected));
}

TEST_CASE("probabilities of 0 and 1 are certain") {
  CHECK_ALL(!any(random::bernoulli(key, 0, {999}, over(4))).value());
  CHECK_ALL(all(random::bernoulli(key, 1, {999}, over(4))).value());
  CHECK_ALL(holds(random::categorical(key, {1.0}, {9}, over(2)), std::vector<std::int64_t>(9, 0)));
  CHECK_ALL(holds(random::categorical(key, {0.0, 0.0, 1.0, 0.0}, {9}, over(2)),
                  std::vector<std::int64_t>(9, 2)));
}

TEST_CASE("truncated normal numbers as far out as they go") {
  auto const inside = [](auto const& u, double low, double high) {
    return all(u >= low && u <= high).value();
  };
  auto const infinity = std::numeric_limits<double>::infinity();

  auto const far = random::truncated_normal<double>(key, 36, infinity, {9999}, over(3));
  CHECK_ALL(inside(far, 36, 36.5));
  CHECK_ALL(max(far).value() > 36.2);
  CHECK_ALL(
      inside(random::truncated_normal<double>(key, -infinity, -36, {9999}, over(3)), -36.5, -36));
  CHECK_ALL(
      inside(random::truncated_normal<float>(key, -0.25F, 0.125F, {9999}, over(3)), -0.25, 0.125));
}

TEST_CASE("arrays without cells, of one cell, and of more devices than cells") {
  CHECK_ALL(holds(random::uniform<double>(key, {0}, over(8)), std::vector<double>{}));
  CHECK_ALL(holds(random::uniform<double>(key, {3, 0}, over(2, 4)), std::vector<double>{}));
  CHECK_ALL(holds(random::uniform<double>(key, {3}, over(8)), uniform_cells<double>(key, {3})));
  DistArray<double, 0> cell({}, {test::row(2), P()});
  cell = random::uniform<double>(key);
  CHECK_ALL(double{cell} == uniform_cell<double>(key, 0));
}

TEST_CASE("the first keys and numbers of a program, written down") {
  auto const u = random::uniform<double>(Key(0), {2}, over(2)).to_host();
  auto const f = random::uniform<float>(Key(0), {4}, over(3)).to_host();

  CHECK(u[0] == static_cast<double>(0xe169c58d'6627e8d5 >> 11U) * 0x1p-53);
  CHECK(u[1] == static_cast<double>(0x9b00dbd8'bc57ac4c >> 11U) * 0x1p-53);
  CHECK(f == std::vector{0x6627e8p-24F, 0xe169c5p-24F, 0xbc57acp-24F, 0x9b00dbp-24F});
}

TEST_SUITE_END();
