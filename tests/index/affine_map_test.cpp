#include "src/index/affine_map.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/index/box.hpp"

#include "support/brute_force.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::cells_in;
using test::CellSet;
using test::for_each_cell;

TEST_SUITE_BEGIN("index/affine_map");

namespace {

constexpr int fixed = AxisMap::fixed;

// Array dimensions moved by distinct dimensions of the index space, or fixed; some are broadcast.
AffineMap random_map(test::Random& random, std::size_t rank_in) {
  std::vector<int> free;
  for (std::size_t d = 0; d < rank_in; ++d) free.push_back(static_cast<int>(d));
  AffineMap map{rank_in, {}};
  for (auto rank = random.between(0, 3); rank > 0; --rank) {
    AxisMap axis{fixed, random.between(-4, 4), random.between(1, 3) * (random.chance() ? 1 : -1)};
    if (!free.empty() && random.between(0, 3) != 0) {
      auto const pick = random.between(0, static_cast<std::int64_t>(free.size()) - 1);
      axis.from = free[static_cast<std::size_t>(pick)];
      free.erase(free.begin() + pick);
    }
    map.axes.push_back(axis);
  }
  return map;
}

bool share_a_cell(std::int64_t first_a, std::int64_t stride_a, std::int64_t count_a,
                  std::int64_t first_b, std::int64_t stride_b, std::int64_t count_b) {
  for (std::int64_t i = 0; i < count_a; ++i)
    for (std::int64_t j = 0; j < count_b; ++j)
      if (first_a + i * stride_a == first_b + j * stride_b) return true;
  return false;
}

}  // namespace

TEST_CASE("the identity maps every cell to itself") {
  auto const map = AffineMap::identity(3);

  CHECK(map(Index{4, 5, 6}) == Index{4, 5, 6});
  CHECK(map.image({{0, 1, 2}, {3, 4, 5}}) == Box{{0, 1, 2}, {3, 4, 5}});
  CHECK(AffineMap::identity(0)(Index{}) == Index{});
}

TEST_CASE("a map shifts, strides, permutes, fixes and broadcasts") {
  // Array cell (i2 + 1, 7, 10 - 2 i0): index dimension 1 is broadcast.
  AffineMap const map{3, {{2, 1, 1}, {fixed, 7, 1}, {0, 10, -2}}};

  CHECK(map(Index{3, 100, 4}) == Index{5, 7, 4});
  CHECK(map.image({{0, 0, 0}, {4, 9, 2}}) == Box{{1, 7, 4}, {3, 8, 11}});
  // Rows 1 to 2 are i2 = 0, 1; columns 5 to 8 are 10 - 2 i0 for i0 = 1, 2.
  CHECK(map.preimage({{1, 0, 5}, {3, 9, 9}}, {{0, 0, 0}, {4, 9, 4}}) == Box{{1, 0, 0}, {3, 9, 2}});
  CHECK(map.preimage({{1, 0, 5}, {3, 7, 9}}, {{0, 0, 0}, {4, 9, 4}}).empty());
}

TEST_CASE("nothing is seen of nothing, also without dimensions") {
  auto const map = AffineMap::identity(1);
  AffineMap const cell_3{0, {{fixed, 3, 1}}};

  CHECK(map.image({{4}, {4}}).empty());
  CHECK(map.preimage({{4}, {4}}, {{0}, {9}}).empty());
  CHECK(map.preimage({{0}, {9}}, {{4}, {4}}).empty());
  CHECK(cell_3.image(Box{}) == Box{{3}, {4}});
  CHECK(cell_3.image(Box::none(0)).empty());
  CHECK(cell_3.preimage({{0}, {4}}, Box{}) == Box{});
  CHECK(cell_3.preimage({{0}, {3}}, Box{}).empty());
  CHECK(AffineMap{0, {}}.preimage(Box::none(0), Box{}).empty());
}

TEST_CASE("images and preimages are what trying every index finds") {
  test::Random random(test::seed_of_all(2));
  for (int round = 0; round < 3000; ++round) {
    auto const rank_in = static_cast<std::size_t>(random.between(0, 3));
    auto const map = random_map(random, rank_in);
    auto const within = random.box(rank_in, -3, 4);
    auto const cells = random.box(map.rank(), -8, 9);
    CAPTURE(map);
    CAPTURE(within);
    CAPTURE(cells);

    CellSet sources;
    Box seen = Box::none(map.rank());
    for_each_cell(within, [&](Index const& i) {
      auto const cell = map(i);
      Box one{cell, cell};
      for (auto& hi : one.hi) ++hi;
      seen = hull(seen, one);
      if (cells.contains(cell)) sources.insert(i);
    });

    REQUIRE(map.image(within) == seen);
    REQUIRE(cells_in(map.preimage(cells, within)) == sources);
  }
}

TEST_CASE("maps print as formulas") {
  CHECK(text(AffineMap::identity(2)) == "(i0, i1)");
  CHECK(text(AffineMap{2, {{0, 1, 1}, {1, 0, 2}, {fixed, 5, 1}}}) == "(i0 + 1, 2 i1, 5)");
  CHECK(text(AffineMap{1, {{0, -3, -1}}}) == "(-1 i0 - 3)");
}

TEST_CASE("maps that differ anywhere are different") {
  auto const map = AffineMap::identity(2);
  auto other = map;
  other.axes[1].offset = 1;

  CHECK(map == AffineMap::identity(2));
  CHECK_FALSE(map == other);
  CHECK_FALSE(map == AffineMap::identity(3));
}

TEST_CASE("red and black cells never meet, red and every third do") {
  CHECK_FALSE(ranges_intersect(0, 2, 50, 1, 2, 50));
  CHECK(ranges_intersect(0, 2, 50, 1, 3, 33));
  CHECK_FALSE(ranges_intersect(0, 1, 4, 4, 1, 4));
  CHECK(ranges_intersect(0, 1, 4, 3, 1, 4));
  CHECK(ranges_intersect(9, -3, 4, 0, 1, 1));
  CHECK_FALSE(ranges_intersect(0, 1, 0, 0, 1, 4));
  // The first common cell, 35, lies past both.
  CHECK_FALSE(ranges_intersect(0, 5, 6, 0, 1, 0));
  CHECK_FALSE(ranges_intersect(5, 10, 3, 0, 7, 5));
  CHECK(ranges_intersect(5, 10, 4, 0, 7, 6));
}

TEST_CASE("whether two ranges meet is what comparing all cells finds") {
  test::Random random(test::seed_of_all(3));
  for (int round = 0; round < 20'000; ++round) {
    std::int64_t const first_a = random.between(-20, 20);
    std::int64_t const first_b = random.between(-20, 20);
    std::int64_t const stride_a = random.between(-9, 9);
    std::int64_t const stride_b = random.between(-9, 9);
    std::int64_t const count_a = random.between(0, 8);
    std::int64_t const count_b = random.between(0, 8);
    CAPTURE(text(first_a, ' ', stride_a, ' ', count_a, ", ", first_b, ' ', stride_b, ' ', count_b));

    REQUIRE(ranges_intersect(first_a, stride_a, count_a, first_b, stride_b, count_b) ==
            share_a_cell(first_a, stride_a, count_a, first_b, stride_b, count_b));
  }
}

TEST_CASE("ranges of many cells are compared without walking them") {
  auto const many = std::int64_t{1} << 40;

  CHECK(ranges_intersect(0, 2, many, 1, 3, many));
  CHECK_FALSE(ranges_intersect(0, 6, many, 1, 3, many));
  CHECK_FALSE(ranges_intersect(0, 1, many, many, 1, many));
}

TEST_SUITE_END();
