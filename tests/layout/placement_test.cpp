#include "src/layout/placement.hpp"

#include <doctest/doctest.h>

using namespace tessera;

/// Where results are placed.
TEST_SUITE_BEGIN("layout/placement");

namespace {

Mesh const grid({{"x", 2}, {"y", 3}, {"z", 4}});

Layout layout_with(Cut const& cut) {
  return {NamedSharding(grid, P({"x", "y"}, none), {cut, Cut::balanced()}), {12, 5}};
}

}  // namespace

TEST_CASE("a result of the same extent has the axes and the cut of what it follows") {
  for (auto const& cut : {Cut::balanced(), Cut::ceil(), Cut::strict(), Cut::unit(2),
                          Cut::explicit_sizes({1, 2, 3, 4, 0, 2})}) {
    auto const placed = placed_like(layout_with(cut), 0, 12);
    CHECK(placed.axes == SpecEntry({"x", "y"}));
    CHECK(placed.cut == cut);
  }
}

TEST_CASE("a result of another extent keeps the rules that fit every extent") {
  for (auto const& cut : {Cut::balanced(), Cut::ceil(), Cut::unit(2), Cut::cyclic(3)})
    CHECK(placed_like(layout_with(cut), 0, 11).cut == cut);
  for (auto const& cut : {Cut::strict(), Cut::explicit_sizes({1, 2, 3, 4, 0, 2})}) {
    auto const placed = placed_like(layout_with(cut), 0, 11);
    CHECK(placed.axes == SpecEntry({"x", "y"}));
    CHECK(placed.cut == Cut::balanced());
  }
}

TEST_CASE("axes that are used already are left out, and a cut for their pieces with them") {
  auto const placed = placed_like(layout_with(Cut::strict()), 0, 12, {"x", "z"});
  CHECK(placed.axes == SpecEntry("y"));
  CHECK(placed.cut == Cut::balanced());
  CHECK(placed_like(layout_with(Cut::unit(2)), 0, 12, {"x"}).cut == Cut::unit(2));
  CHECK(placed_like(layout_with(Cut::ceil()), 0, 12, {"y", "x"}).axes == SpecEntry(none));
}

TEST_CASE("placed dimensions make the sharding that they are taken from") {
  NamedSharding const sharding(grid, P("z", none, {"y", "x"}),
                               {Cut::unit(3), Cut::balanced(), Cut::ceil()});
  CHECK(sharding_of(grid, placed_dimensions(sharding)) == sharding);
}

TEST_SUITE_END();
