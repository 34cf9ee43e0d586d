#include "src/index/region.hpp"

#include <doctest/doctest.h>

#include "src/base/text.hpp"

#include "support/brute_force.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::cells_in;
using test::CellSet;

TEST_SUITE_BEGIN("index/region");

namespace {

std::string difference(Box const& a, Box const& b) {
  std::vector<Box> boxes;
  append_difference(a, b, boxes);
  return join(boxes);
}

// Fails unless a region is that set of cells, in disjoint boxes that are not empty.
void check_is(Region const& region, CellSet const& cells) {
  REQUIRE(region.cells() == static_cast<std::int64_t>(cells.size()));
  REQUIRE(cells_in(region.boxes()) == cells);
  for (auto const& box : region.boxes()) REQUIRE_FALSE(box.empty());
  REQUIRE(region.empty() == cells.empty());
}

}  // namespace

TEST_CASE("what is left of a box is a slab on either side of each dimension") {
  CHECK(difference({{0}, {10}}, {{3}, {5}}) == "[0:3], [5:10]");
  CHECK(difference({{0}, {10}}, {{0}, {5}}) == "[5:10]");
  CHECK(difference({{0}, {10}}, {{-5}, {50}}).empty());
  CHECK(difference({{0}, {10}}, {{20}, {50}}) == "[0:10]");
  CHECK(difference({{0}, {0}}, {{20}, {50}}).empty());
  // a a a a
  // a . . a
  // a a a a
  CHECK(difference({{0, 0}, {3, 4}}, {{1, 1}, {2, 3}}) ==
        "[0:1, 0:4], [2:3, 0:4], [1:2, 0:1], [1:2, 3:4]");
}

TEST_CASE("a box of no dimensions is left whole or not at all") {
  CHECK(difference(Box{}, Box{}).empty());
  CHECK(difference(Box{}, Box::none(0)) == "[]");
  CHECK(difference(Box::none(0), Box{}).empty());
}

TEST_CASE("boxes that overlap are kept disjoint") {
  Region region(Box{{0}, {4}});
  region.add({{2}, {6}});
  region.add({{1}, {3}});

  CHECK(text(region) == "{[0:4], [4:6]}");
  CHECK(region.cells() == 6);
  CHECK(region.hull() == Box{{0}, {6}});
}

TEST_CASE("a region contains a box that only several of its boxes hold") {
  Region region(Box{{0, 0}, {2, 2}});
  region.add({{0, 2}, {2, 4}});

  CHECK(region.contains(Box{{0, 1}, {2, 3}}));
  CHECK_FALSE(region.contains(Box{{0, 1}, {3, 3}}));
  CHECK(region.contains(Box::none(2)));
}

TEST_CASE("an empty region contains only what is empty") {
  Region region;
  region.add({{3}, {3}});
  region.subtract({{0}, {9}});

  CHECK(region.empty());
  CHECK(region.cells() == 0);
  CHECK(text(region) == "{}");
  CHECK(region.hull().empty());
  CHECK(region.contains(Box::none(1)));
  CHECK_FALSE(region.contains(Box{{0}, {1}}));
}

TEST_CASE("adding, subtracting and cutting do what they do to sets of cells") {
  test::Random random(test::seed_of_all(1));
  for (int round = 0; round < 300; ++round) {
    auto const rank = static_cast<std::size_t>(random.between(1, 3));
    Region region;
    CellSet cells;
    for (int step = 0; step < 8; ++step) {
      auto const box = random.box(rank, 0, 6);
      auto const in_box = cells_in(box);
      auto const choice = random.between(0, 5);
      if (choice < 3) {
        region.add(box);
        cells.insert(in_box.begin(), in_box.end());
      } else if (choice < 5) {
        region.subtract(box);
        for (auto const& cell : in_box) cells.erase(cell);
      } else {
        region.cut_to(box);
        std::erase_if(cells, [&](Index const& cell) { return !box.contains(cell); });
      }
      check_is(region, cells);
      auto const probe = random.box(rank, 0, 6);
      auto const in_probe = cells_in(probe);
      REQUIRE(region.contains(probe) ==
              std::includes(cells.begin(), cells.end(), in_probe.begin(), in_probe.end()));
    }
  }
}

TEST_SUITE_END();
