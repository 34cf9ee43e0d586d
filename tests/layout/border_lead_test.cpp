#include "src/layout/border_lead.hpp"

#include <algorithm>
#include <optional>

#include <doctest/doctest.h>

#include "support/brute_force.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::Random;

TEST_SUITE_BEGIN("layout/border_lead");

namespace {

std::int64_t lead_by_trying(ScaledCut const& a, ScaledCut const& b, std::int64_t ways,
                            Piece const& borders) {
  auto const border = [&](ScaledCut const& of, std::int64_t k) {
    return of.scale * (k == ways ? of.extent : of.cut.piece(of.extent, ways, k).lo);
  };
  std::optional<std::int64_t> most;
  for (auto k = borders.lo; k < borders.hi; ++k)
    most = std::max(most.value_or(border(a, k) - border(b, k)), border(a, k) - border(b, k));
  return *most;
}

Cut random_formula(Random& random) {
  auto const kind = random.between(0, 2);
  return kind == 0 ? Cut::balanced() : kind == 1 ? Cut::ceil() : Cut::unit(random.between(1, 9));
}

auto const balanced = Cut::balanced();

}  // namespace

TEST_CASE("borders lead those of another extent by hand-made amounts") {
  auto const lead = [](ScaledCut const& a, ScaledCut const& b) {
    return border_lead(a, b, 4, {0, 5});
  };
  // 102: 26 52 77 102; 100: 25 50 75 100
  CHECK(lead({balanced, 102}, {balanced, 100}) == 2);
  CHECK(lead({balanced, 100}, {balanced, 102}) == 0);
  CHECK(lead({balanced, 100}, {balanced, 100}) == 0);
  // 9: 3 5 7 9; 5: 2 3 4 5
  CHECK(lead({balanced, 5, 2}, {balanced, 9}) == 1);
  CHECK(lead({balanced, 9}, {balanced, 5, 2}) == 0);
  CHECK(border_lead({balanced, 9}, {balanced, 5, 2}, 4, {1, 4}) == -1);
  // 9: 3 6 9 9; 8: 2 4 6 8
  CHECK(lead({Cut::ceil(), 9}, {Cut::ceil(), 8}) == 3);
  CHECK(lead({Cut::strict(), 12}, {Cut::strict(), 8}) == 4);
}

TEST_CASE("borders of different rules are compared, too") {
  // 11 balanced: 3 6 9 11; in units of 2: 4 8 10 11; 6 balanced: 2 4 5 6
  CHECK(border_lead({Cut::unit(2), 11}, {balanced, 11}, 4, {0, 5}) == 2);
  CHECK(border_lead({balanced, 11}, {Cut::unit(2), 11}, 4, {0, 5}) == 0);
  CHECK(border_lead({Cut::unit(2), 11}, {balanced, 6, 2}, 4, {0, 5}) == 0);
  CHECK(border_lead({balanced, 6, 2}, {Cut::unit(2), 11}, 4, {0, 4}) == 0);
  CHECK(border_lead({balanced, 8}, {Cut::strict(), 8}, 4, {0, 5}) == 0);
}

TEST_CASE("a list of cells is compared with itself only, and cuts of several pieces not at all") {
  auto const listed = Cut::explicit_sizes({3, 2});
  CHECK(border_lead({listed, 5}, {listed, 5}, 2, {0, 3}) == 0);
  CHECK(border_lead({listed, 5, 2}, {listed, 5, 1}, 2, {0, 3}) == 5);
  CHECK(border_lead({listed, 5, 2}, {listed, 5, 1}, 2, {0, 2}) == 3);
  CHECK(!border_lead({listed, 5}, {balanced, 5}, 2, {0, 3}));
  CHECK(!border_lead({listed, 5}, {Cut::explicit_sizes({2, 3}), 5}, 2, {0, 3}));
  auto const dealt = Cut::cyclic(2);
  CHECK(border_lead({dealt, 5}, {dealt, 5}, 2, {0, 3}) == 0);
  CHECK(!border_lead({dealt, 5, 2}, {dealt, 5, 1}, 2, {0, 3}));
  CHECK(!border_lead({dealt, 5}, {dealt, 6}, 2, {0, 3}));
  CHECK(!border_lead({Cut::segments({3, 2}), 5}, {balanced, 5}, 2, {0, 3}));
}

TEST_CASE("scaled extents of more than 2^62 cells are not compared") {
  auto const most = std::int64_t{1} << 62;
  CHECK(border_lead({balanced, most / 2, 2}, {balanced, most}, 4, {0, 5}) == 0);
  CHECK(!border_lead({balanced, most / 2, 3}, {balanced, most}, 4, {0, 5}));
  CHECK(!border_lead({balanced, most}, {balanced, 1, most + 1}, 4, {0, 5}));
}

TEST_CASE("the lead of borders is what trying every border finds") {
  Random random(test::seed_of_all(6));
  for (int round = 0; round < 20'000; ++round) {
    auto const ways = random.between(1, 20);
    ScaledCut a{random_formula(random), random.between(0, 60), random.between(1, 4)};
    ScaledCut b{random_formula(random), random.between(0, 60), random.between(1, 4)};
    if (random.chance()) b.extent = a.extent;
    if (random.chance()) b.cut = a.cut;
    auto const first = random.between(0, ways);
    Piece const borders{first, random.between(first, ways) + 1};
    CAPTURE(ways);
    CAPTURE(a.cut);
    CAPTURE(a.extent);
    CAPTURE(b.cut);
    CAPTURE(b.extent);

    REQUIRE(border_lead(a, b, ways, borders).value() == lead_by_trying(a, b, ways, borders));
  }
}

TEST_SUITE_END();
