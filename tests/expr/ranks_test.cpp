#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;
using test::transposed;

/// Eight dimensions, and none.
TEST_SUITE_BEGIN("expr/ranks");

namespace {

Mesh const cube({{"a", 2}, {"b", 2}, {"c", 2}});
Shape const tiny{2, 3, 1, 2, 2, 1, 3, 2};

auto spread_tiny(NamedSharding const& sharding) {
  return test::spread_out<double, 8>(test::scrambled<double>(tiny), sharding);
}

}  // namespace

TEST_CASE("eight dimensions are sliced, shifted and turned round") {
  auto const m = test::scrambled<double>(tiny);
  NamedSharding const sharding(cube, P("a", none, none, "c", none, none, "b", none));
  auto u = spread_tiny(sharding);
  auto const backwards = range(none, none, -1);

  u = u + u(backwards, tessera::all, tessera::all, tessera::all, tessera::all, tessera::all,
            backwards, tessera::all);
  auto wanted = m.all();
  wanted[0] = {1, -1, 2};
  wanted[6] = {2, -1, 3};
  auto const sum = test::combined<double>(
      tiny, [](double x, double y) { return x + y; }, m, m.slice(wanted));
  CHECK_ALL(holds(u, sum));

  u = roll(u, 1, 6);
  std::vector<test::Edges> const around(8, {test::Edge{}, test::Edge{}});
  CHECK_ALL(holds(u, sum.shifted({0, 0, 0, 0, 0, 0, -1, 0}, around)));
}

TEST_CASE("eight dimensions are transposed and cut down to one") {
  auto const m = test::scrambled<double>(tiny);
  auto const u = spread_tiny({cube, P("b", "a", none, none, none, none, "c", none)});

  DistArray const turned = transpose(u);
  DistArray const line = u(1, 2, 0, 1, 0, 0, tessera::all, 1);

  CHECK_ALL(holds(turned, transposed(m, {7, 6, 5, 4, 3, 2, 1, 0})));
  CHECK_ALL(turned.sharding().spec() == P(none, "c", none, none, none, none, "a", "b"));
  CHECK_ALL(holds(line, m.slice({{1, 1, 1},
                                 {2, 1, 1},
                                 {0, 1, 1},
                                 {1, 1, 1},
                                 {0, 1, 1},
                                 {0, 1, 1},
                                 {0, 1, 3},
                                 {1, 1, 1}})));
}

TEST_CASE("a view of no dimensions is read, written and broadcast") {
  auto u = iota<std::int64_t>({3, 4}, over(2, 4));
  auto const cell = u(1, 2);

  cell = cell * 2 + u(0, 1);
  u(0, 0) = transpose(cell) + 1;
  u(2, tessera::all) = cell(newaxis) + u(0, 0);

  CHECK_ALL(static_cast<std::int64_t>(cell) == 13);
  CHECK_ALL(holds(u, std::vector<std::int64_t>{14, 1, 2, 3, 4, 5, 13, 7, 27, 27, 27, 27}));
}

TEST_SUITE_END();
