#include "tessera/array/shift.hpp"

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/plan/access.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::Edge;
using test::Edges;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("expr/shift");

namespace {

using Integers = std::vector<std::int64_t>;

Edge around() {
  return {};
}
Edge fixed(std::int64_t value) {
  return {BoundaryKind::constant, value};
}
Edge repeated() {
  return {BoundaryKind::edge, 0};
}

Boundary boundary_of(Edge const& e) {
  if (e.kind == BoundaryKind::constant) return constant(e.value);
  return Boundary(e.kind);
}
Boundaries boundaries_of(Edges const& e) {
  return {boundary_of(e.below), boundary_of(e.above)};
}

Edge mirror(BoundaryKind kind) {
  return {kind, 0};
}

std::vector<Edges> const kinds{{around(), around()},
                               {fixed(-7), fixed(-7)},
                               {repeated(), repeated()},
                               {fixed(3), repeated()},
                               {repeated(), fixed(5)},
                               {fixed(1), fixed(2)},
                               {mirror(BoundaryKind::reflect), mirror(BoundaryKind::reflect)},
                               {mirror(BoundaryKind::symmetric), mirror(BoundaryKind::symmetric)},
                               {mirror(BoundaryKind::reflect), fixed(4)},
                               {repeated(), mirror(BoundaryKind::symmetric)}};

}  // namespace

TEST_CASE("shift looks ahead and roll moves ahead") {
  auto const u = iota<std::int64_t>({5}, over(3));

  CHECK_ALL(holds(DistArray(shift(u, 1, periodic)), Integers{1, 2, 3, 4, 0}));
  CHECK_ALL(holds(DistArray(roll(u, 1)), Integers{4, 0, 1, 2, 3}));
  CHECK_ALL(holds(DistArray(shift(u, 1, edge)), Integers{1, 2, 3, 4, 4}));
  CHECK_ALL(holds(DistArray(shift(u, -2, constant(9))), Integers{9, 9, 0, 1, 2}));
  CHECK_ALL(holds(DistArray(shift(u, -1, {constant(8), edge})), Integers{8, 0, 1, 2, 3}));
}

TEST_CASE("a mirror shows the cells backwards") {
  auto const u = iota<std::int64_t>({4}, over(3));

  CHECK_ALL(holds(DistArray(shift(u, 2, reflect)), Integers{2, 3, 2, 1}));
  CHECK_ALL(holds(DistArray(shift(u, 2, symmetric)), Integers{2, 3, 3, 2}));
  CHECK_ALL(holds(DistArray(shift(u, -5, reflect)), Integers{1, 2, 3, 2}));
  CHECK_ALL(holds(DistArray(shift(u, -5, symmetric)), Integers{3, 3, 2, 1}));
}

TEST_CASE("any offset past any boundary on any layout") {
  for (std::int64_t const extent : {1, 2, 3, 5, 8, 13})
    for (auto const& sharding : test::layouts_of_row(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto const m = test::scrambled<double>({extent});
      auto const u = test::spread_out<double, 1>(m, sharding);
      auto v = zeros<double>({extent}, sharding);
      for (auto const& kind : kinds)
        for (std::int64_t const offset : {0, 1, -1, 3, -3, 6, -6, 29, -29}) {
          CAPTURE(offset);
          v = shift(u, offset, boundaries_of(kind));
          CHECK_ALL(holds(v, m.shifted({offset}, {kind})));
        }
    }
}

TEST_CASE("rings of 2 to 10 cells on 1, 2 and 3 devices turn in place") {
  for (std::int64_t extent = 2; extent <= 10; ++extent)
    for (std::int64_t devices = 1; devices <= 3; ++devices) {
      CAPTURE(extent);
      CAPTURE(devices);
      auto m = test::scrambled<double>({extent});
      auto u = test::spread_out<double, 1>(m, over(devices));
      for (std::int64_t const k : {1, -1, 2, 5, -11}) {
        u = roll(u, k);
        u = 0.3 * shift(u, 1, periodic) + 0.1 * shift(u, -1, periodic) + 0.6 * u;
        m = m.shifted({-k}, {kinds[0]});
        m = test::combined<double>(
            m.shape, [](double r, double l, double c) { return 0.3 * r + 0.1 * l + 0.6 * c; },
            m.shifted({1}, {kinds[0]}), m.shifted({-1}, {kinds[0]}), m);
        CHECK_ALL(holds(u, m));
      }
    }
}

TEST_CASE("in a corner past several constant edges the last dimension decides") {
  auto const m = test::scrambled<double>({3, 4});
  for (auto const& sharding : test::layouts_of_plane(3, 4)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    auto v = zeros<double>({3, 4}, sharding);
    for (auto const& rows : kinds)
      for (auto const& columns : kinds)
        for (auto const& [dy, dx] : {std::pair{1, -1}, {-2, 1}, {0, 2}, {4, 5}}) {
          CAPTURE(dy);
          CAPTURE(dx);
          v = shift(u, {dy, dx}, {boundaries_of(rows), boundaries_of(columns)});
          CHECK_ALL(holds(v, m.shifted({dy, dx}, {rows, columns})));
        }
  }
}

TEST_CASE("a shift of a slice keeps to the slice") {
  auto const m = test::scrambled<double>({11});
  for (auto const& sharding : test::layouts_of_row(11)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 1>(m, sharding);
    auto v = zeros<double>({5}, over(4));
    for (auto const& kind : kinds)
      for (std::int64_t const offset : {1, -2, 7}) {
        v = shift(u(range(1, 11, 2)), offset, boundaries_of(kind));
        CHECK_ALL(holds(v, m.slice({{1, 2, 5}}).shifted({offset}, {kind})));
      }
  }
}

// Two borders inside one stretch of repeated edge cells, read from a temporary.
TEST_CASE("an edge is repeated across the border of another shift") {
  auto const m = test::scrambled<double>({6});
  for (auto const& sharding : test::layouts_of_row(6)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 1>(m, sharding);
    auto v = zeros<double>({6}, over(1));

    v = shift(u, -5, edge) + 100.0 * shift(u, -2, constant(1)) + 1e4 * shift(u, 3, edge);

    auto const sum = [](double a, double b, double c) { return a + 100.0 * b + 1e4 * c; };
    CHECK_ALL(holds(v, test::combined<double>({6}, sum, m.shifted({-5}, {kinds[2]}),
                                              m.shifted({-2}, {{fixed(1), fixed(1)}}),
                                              m.shifted({3}, {kinds[2]}))));
  }
}

TEST_CASE("a glider of the game of life walks around the torus") {
  auto const start = [](auto const& i) {
    for (auto const& [y, x] : {std::pair{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}})
      if (i[0] == y && i[1] == x) return 1;
    return 0;
  };
  for (auto const& sharding : test::layouts_of_plane(8, 8)) {
    CAPTURE(sharding);
    auto u = from_index<std::int32_t>({8, 8}, sharding, start);
    for (int s = 0; s < 12; ++s) {
      auto const near = [&](std::int64_t y, std::int64_t x) { return shift(u, {y, x}, periodic); };
      auto const neighbours = near(-1, -1) + near(-1, 0) + near(-1, 1) + near(0, -1) + near(0, 1) +
                              near(1, -1) + near(1, 0) + near(1, 1);
      u = cast<std::int32_t>(neighbours == 3 || (neighbours == 2 && u == 1));
    }

    // Four generations move it one cell down and to the right.
    auto const moved = test::Mirror<std::int32_t>::made_of({8, 8}, [&](Index const& i) {
      return start(Index{floor_mod(i[0] - 3, 8), floor_mod(i[1] - 3, 8)});
    });
    CHECK_ALL(holds(u, moved));
  }
}

TEST_CASE("a periodic array of one device reads its own ends") {
  auto const u = iota<std::int64_t>({4}, over(1));
  auto v = zeros<std::int64_t>({4}, over(1));
  auto const before = counters();

  v = shift(u, 1, periodic) + 10 * shift(u, -1, periodic);

  CHECK_ALL(holds(v, Integers{31, 2, 13, 20}));
  CHECK_ALL((counters() - before).messages == 0);
}

TEST_SUITE_END();
