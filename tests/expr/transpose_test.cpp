#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/plan/access.hpp"

#include "support/arrays.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::Edge;
using test::Edges;
using test::holds;
using test::Mirror;
using test::over;
using test::transposed;

TEST_SUITE_BEGIN("expr/transpose");

namespace {

using Integers = std::vector<std::int64_t>;
std::vector<std::size_t> const swapped{1, 0};

auto sum_of = [](double x, double y) { return x + y; };

}  // namespace

TEST_CASE("a plane is transposed from any layout to any other") {
  auto const m = test::scrambled<double>({5, 8});
  for (auto const& from_layout : test::layouts_of_plane(5, 8))
    for (auto const& to_layout : test::layouts_of_plane(8, 5)) {
      CAPTURE(from_layout);
      CAPTURE(to_layout);
      auto const u = test::spread_out<double, 2>(m, from_layout);
      auto v = zeros<double>({8, 5}, to_layout);

      v = transpose(u);
      CHECK_ALL(holds(v, transposed(m, swapped)));

      v = 0.0;
      transpose(v) = u;
      CHECK_ALL(holds(v, transposed(m, swapped)));
    }
}

// Large enough for tiles of lines; the last ones of a row and of a column are not whole.
TEST_CASE("a larger plane and a larger cube are transposed") {
  auto const m = test::scrambled<double>({27, 515});
  for (auto const& sharding : test::layouts_of_plane(27, 515)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);

    CHECK_ALL(holds(DistArray(transpose(u)), transposed(m, swapped)));
    DistArray<double, 2> const v = 2.0 * transpose(u) + index(1) - 3 * index(0);
    CHECK_ALL(holds(v, Mirror<double>::made_of({515, 27}, [&](Index const& i) {
                      return 2.0 * m.at({i[1], i[0]}) + static_cast<double>(i[1]) -
                             static_cast<double>(3 * i[0]);
                    })));
  }

  auto const cube = test::scrambled<double>({19, 3, 21});
  test::Random random(test::seed_of_all(12));
  for (int round = 0; round < 4; ++round) {
    auto const sharding = test::random_sharding(random, device_count(), {19, 3, 21});
    auto const u = test::spread_out<double, 3>(cube, sharding);
    CAPTURE(sharding);
    CHECK_ALL(holds(DistArray(transpose(u)), transposed(cube, {2, 1, 0})));
    CHECK_ALL(holds(DistArray(transpose(u, {2, 0, 1})), transposed(cube, {2, 0, 1})));
    CHECK_ALL(holds(DistArray(transpose(u, {1, 2, 0})), transposed(cube, {1, 2, 0})));
  }
}

// The arrays lie transposed, so cells come from ghost cells, which messages and copies fill.
TEST_CASE("a larger plane is shifted and transposed") {
  Mesh const mesh({{"x", 2}, {"y", 4}});
  auto const plane = test::scrambled<double>({27, 70});
  auto const u = test::spread_out<double, 2>(plane, NamedSharding(mesh, P("x", "y")));
  auto v = zeros<double>({70, 27}, {mesh, P("y", "x")});
  auto const around = std::vector<Edges>{{Edge{}, Edge{}}, {Edge{}, Edge{}}};
  v = transpose(shift(u, {2, -1}, periodic));
  CHECK_ALL(holds(v, transposed(plane.shifted({2, -1}, around), swapped)));

  auto expected = Mirror<double>::made_of({70, 27}, [](Index const&) { return 0.0; });
  v = 0.0;
  v(tessera::all, range(0, 25)) = transpose(u(range(2, 27), tessera::all));
  expected.assign({{0, 1, 70}, {0, 1, 25}},
                  transposed(plane.slice({{2, 1, 25}, {0, 1, 70}}), swapped));
  CHECK_ALL(holds(v, expected));
}

TEST_CASE("an array is added to its own transpose in place") {
  for (auto const& sharding : test::layouts_of_plane(7, 7)) {
    CAPTURE(sharding);
    auto m = test::scrambled<double>({7, 7});
    auto u = test::spread_out<double, 2>(m, sharding);

    u += transpose(u);
    m = test::combined<double>({7, 7}, sum_of, m, transposed(m, swapped));
    CHECK_ALL(holds(u, m));

    u = 0.3 * transpose(u + index(0));
    m = test::combined<double>(
        {7, 7}, [](double x) { return 0.3 * x; },
        transposed(Mirror<double>::made_of(
                       {7, 7}, [&](Index const& i) { return m.at(i) + static_cast<double>(i[0]); }),
                   swapped));
    CHECK_ALL(holds(u, m));

    u(range(1, 4), tessera::all) = transpose(u)(range(0, 3), tessera::all);
    m.assign({{1, 1, 3}, {0, 1, 7}}, transposed(m, swapped).slice({{0, 1, 3}, {0, 1, 7}}));
    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("the dimensions of a cube come in any order") {
  auto const m = test::scrambled<double>({3, 4, 5});
  test::Random random(test::seed_of_all(11));
  for (int round = 0; round < 6; ++round) {
    auto const sharding = test::random_sharding(random, device_count(), {3, 4, 5});
    auto const u = test::spread_out<double, 3>(m, sharding);
    CAPTURE(sharding);
    CHECK_ALL(holds(DistArray(transpose(u)), transposed(m, {2, 1, 0})));
    CHECK_ALL(holds(DistArray(transpose(u, {1, 0, 2})), transposed(m, {1, 0, 2})));
    CHECK_ALL(holds(DistArray(transpose(u, {-1, 0, 1})), transposed(m, {2, 0, 1})));
    CHECK_ALL(holds(DistArray(transpose(2.0 * u, {1, 2, 0})),
                    transposed(test::combined<double>(
                                   {3, 4, 5}, [](double x) { return 2.0 * x; }, m),
                               {1, 2, 0})));
  }
}

TEST_CASE("a transposed expression broadcasts inside and outside") {
  auto const line = test::scrambled<double>({5});
  auto const plane = test::scrambled<double>({4, 5});
  for (auto const& sharding : test::layouts_of_plane(4, 5)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(plane, sharding);
    auto const v = test::spread_out<double, 1>(line, over(3));
    auto w = zeros<double>({3, 5, 4}, {Mesh({{"a", 2}, {"b", 2}, {"c", 2}}), P("a", "b", "c")});

    w = index(0) + transpose(u * v + 10 * index(1));

    CHECK_ALL(holds(w, Mirror<double>::made_of({3, 5, 4}, [&](Index const& i) {
                      return static_cast<double>(i[0]) + (plane.at({i[2], i[1]}) * line.at({i[1]}) +
                                                          static_cast<double>(10 * i[1]));
                    })));
    CHECK_ALL_THROW(w = transpose(u + index(2)), ShapeError);
  }
}

TEST_CASE("neighbours are found before and after transposing") {
  auto const m = test::scrambled<double>({5, 6});
  std::vector<Edges> const edges{{{BoundaryKind::constant, 3}, {BoundaryKind::constant, 4}},
                                 {{BoundaryKind::constant, 5}, {BoundaryKind::edge, 0}}};
  for (auto const& sharding : test::layouts_of_plane(5, 6)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    auto v = zeros<double>({6, 5}, over(2, 4));
    Boundaries const rows(constant(3), constant(4));
    Boundaries const columns(constant(5), edge);

    // In a corner the last dimension decides: of what is shifted, not of the array.
    v = transpose(shift(u, {2, -1}, {rows, columns}));
    CHECK_ALL(holds(v, transposed(m.shifted({2, -1}, edges), swapped)));

    v = shift(transpose(u), {2, -1}, {rows, columns});
    CHECK_ALL(holds(v, transposed(m, swapped).shifted({2, -1}, edges)));

    v = transpose(shift(u, {1, 1}, periodic) * 0.5 + roll(u, 2, 1));
    auto const around = std::vector<Edges>{{Edge{}, Edge{}}, {Edge{}, Edge{}}};
    CHECK_ALL(holds(v, transposed(test::combined<double>(
                                      {5, 6}, [](double x, double y) { return x * 0.5 + y; },
                                      m.shifted({1, 1}, around), m.shifted({0, -2}, around)),
                                  swapped)));
  }
}

TEST_CASE("a new array from a transpose lies as its source, transposed") {
  auto const u = iota<std::int64_t>({4, 6, 5}, {Mesh({{"x", 2}, {"y", 4}}), P("y", none, "x"),
                                                std::vector<Cut>{Cut::explicit_sizes({1, 0, 2, 1}),
                                                                 Cut::balanced(), Cut::ceil()}});

  DistArray const all_reversed = transpose(u);
  DistArray const turned = transpose(u, {1, 0, 2});
  DistArray const computed = transpose(u + 0, {1, 0, 2});
  DistArray const flat = transpose(u)(tessera::all, 2, newaxis, tessera::all);

  CHECK_ALL(all_reversed.sharding() ==
            NamedSharding(
                u.sharding().mesh(), P("x", none, "y"),
                std::vector<Cut>{Cut::ceil(), Cut::balanced(), Cut::explicit_sizes({1, 0, 2, 1})}));
  CHECK_ALL(turned.sharding().spec() == P(none, "y", "x"));
  CHECK_ALL(computed.sharding() == turned.sharding());
  CHECK_ALL(flat.sharding().spec() == P("x", none, "y"));
  CHECK_ALL(flat.shape() == Shape{5, 1, 4});
}

TEST_CASE("a transpose of what lies transposed sends nothing") {
  auto const u = iota<double>({8, 12}, {Mesh({{"y", 2}, {"x", 4}}), P("y", "x")});
  auto v = zeros<double>({12, 8}, {Mesh({{"y", 2}, {"x", 4}}), P("x", "y")});

  auto const sent = test::sent_by([&] {
    v = transpose(u) + 1.0;
    transpose(v) = 2.0 * u;
    v = transpose(0.5 * u + index(1));
  });

  CHECK(sent.messages == 0);
}

TEST_CASE("a transpose on a row of devices sends each pair one block") {
  auto const u = iota<double>({8, 8}, {test::row(4), P("x", none)});
  auto v = zeros<double>({8, 8}, {test::row(4), P("x", none)});

  auto const sent = test::sent_by([&] { v = transpose(u); });

  CHECK(sent.messages == 4 * 3);
  CHECK(sent.bytes == 4 * 3 * 2 * 2 * 8);
}

TEST_CASE("flip turns all axes round, or those it is given") {
  auto const m = test::scrambled<double>({3, 4});
  for (auto const& sharding : test::layouts_of_plane(3, 4)) {
    CAPTURE(sharding);
    auto u = test::spread_out<double, 2>(m, sharding);
    CHECK_ALL(holds(DistArray(flip(u)), m.slice({{2, -1, 3}, {3, -1, 4}})));
    CHECK_ALL(holds(DistArray(flip(u, 0)), m.slice({{2, -1, 3}, {0, 1, 4}})));
    CHECK_ALL(holds(DistArray(flip(u, -1)), m.slice({{0, 1, 3}, {3, -1, 4}})));
    CHECK_ALL(holds(DistArray(flip(u, {1, 0})), m.slice({{2, -1, 3}, {3, -1, 4}})));
    CHECK_ALL(holds(DistArray(flip(transpose(u), 0)),
                    transposed(m, swapped).slice({{3, -1, 4}, {0, 1, 3}})));
    u = flip(u);
    flip(u, 0) = 1.0 * u;
    CHECK_ALL(holds(u, m.slice({{0, 1, 3}, {3, -1, 4}})));
  }
}

TEST_CASE("axes that do not exist, come twice or are missing") {
  auto const u = iota<double>({3, 4}, over(2, 4));
  CHECK_ALL_THROW((void)transpose(u, {0}), ShapeError);
  CHECK_ALL_THROW((void)transpose(u, {0, 2}), ShapeError);
  CHECK_ALL_THROW((void)transpose(u, {1, -1}), ShapeError);
  CHECK_ALL_THROW((void)transpose(u + 1, {1, 1}), ShapeError);
  CHECK_ALL_THROW((void)flip(u, 2), ShapeError);
  CHECK_ALL_THROW((void)flip(u, {0, -2}), ShapeError);
}

TEST_CASE("what has less than two dimensions is its own transpose") {
  auto const u = iota<std::int64_t>({4}, over(3));
  CHECK_ALL(holds(DistArray(transpose(u)), Integers{0, 1, 2, 3}));
  CHECK_ALL(holds(DistArray(transpose(u + 1) + transpose(u)), Integers{1, 3, 5, 7}));
}

TEST_SUITE_END();
