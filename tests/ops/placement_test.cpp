#include <algorithm>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/build.hpp"
#include "tessera/ops/shape.hpp"

#include "support/arrays.hpp"

using namespace tessera;

/// Which device computes which index of a reduction.
TEST_SUITE_BEGIN("ops/placement");

namespace {

template <Expression E>
detail::ComputePlacement placement(E const& e) {
  auto const node = detail::as_node(e);
  detail::IndexSpace<E::rank> const space(node.extents());
  detail::Anchor anchor;
  find_anchor(node, detail::AccessBuilder(space.box().hi, E::rank), anchor);
  return placement_of(anchor, space.box());
}

// True if every index is computed by one device of the first copy, once.
bool is_divided(detail::ComputePlacement const& place) {
  std::map<Index, int> times;
  test::for_each_cell(place.indices, [&](Index const& i) { times[i] = 0; });
  auto const& mesh = place.layout->mesh();
  for (std::int64_t p = 0; p < mesh.size(); ++p) {
    auto const device = mesh.device_at(p);
    if (place.layout->replica_of(device) != 0) continue;
    for (auto const& work : place.work_of(device))
      test::for_each_cell(work.indices, [&](Index const& i) { ++times[i]; });
  }
  return std::all_of(times.begin(), times.end(), [](auto const& t) { return t.second == 1; });
}

}  // namespace

TEST_CASE("every index of every view is computed by one device") {
  for (auto const& sharding : test::layouts_of_plane(5, 7)) {
    CAPTURE(sharding);
    auto const u = zeros<double>({5, 7}, sharding);
    auto const backwards = u(range(4, 1, -1), range(none, none, -2));
    auto const columns = u(3, range(1, 6));
    CHECK(is_divided(placement(u)));
    CHECK(is_divided(placement(backwards)));
    CHECK(is_divided(placement(shift(u, {40, -3}, periodic))));
    CHECK(is_divided(placement(u(tessera::all, range(3, 4)) * u(range(1, 2), tessera::all))));
    CHECK(is_divided(placement(pad(u, {2, 0}, {1, 9}, edge))));
    CHECK(is_divided(placement(pad(backwards, {0, 5}, {7, 0}, constant(1)))));
    CHECK(is_divided(placement(pad(columns, {8}, {3}, reflect))));
    CHECK(is_divided(placement(transpose(1.0 * pad(u, 2, 3, symmetric)))));
    CHECK(
        is_divided(placement(pad(u, {4, 0}, {0, 0}, constant(0)) + u(range(0, 1), tessera::all))));
    CHECK(is_divided(placement(pad(u(range(0, 0), tessera::all), {2, 1}, {2, 0}, constant(0)))));
  }
}

TEST_CASE("a reduction of cells of the array alone is computed where they lie") {
  auto const u = zeros<double>({5, 7}, test::over(2, 4));
  for (auto const& place : {placement(u), placement(u(range(1, 4), range(none, none, -1))),
                            placement(shift(u, {3, 3}, edge)), placement(pad(u, 0, 0, edge)),
                            placement(pad(u(range(0, 2), tessera::all), {0, 0}, {3, 0}, edge))})
    CHECK(place.layout == u.layout());
}

TEST_CASE("only the padded dimension is cut anew, by the rule of the array if it fits") {
  std::vector const cuts{Cut::unit(2), Cut::explicit_sizes({1, 6})};
  Mesh const grid({{"a", 4}, {"b", 2}});
  auto const u = zeros<double>({5, 7}, NamedSharding(grid, P("a", "b"), cuts));

  auto const rows = placement(pad(u, {1, 0}, {2, 0}, edge));
  CHECK(rows.layout->shape() == Shape{8, 7});
  CHECK(rows.layout->sharding() == u.sharding());
  auto const columns = placement(pad(u, {0, 1}, {0, 2}, edge));
  CHECK(columns.layout->shape() == Shape{5, 10});
  CHECK(columns.layout->sharding().cut(0) == Cut::unit(2));
  CHECK(columns.layout->sharding().cut(1) == Cut::balanced());
  auto const strict = zeros<double>({4}, NamedSharding(test::row(4), P("x"), Cut::strict()));
  CHECK(placement(pad(strict, 1, 1, edge)).layout->sharding().cut(0) == Cut::balanced());
  CHECK(placement(pad(strict(range(3, 1, -1)), 1, 1, edge)).layout->shape() == Shape{4});
}

TEST_CASE("a new array of cells of a strictly cut one may have any extent") {
  auto const u = zeros<double>({4}, NamedSharding(test::row(4), P("x"), Cut::strict()));

  DistArray const part = u(range(1, none)) + 1.0;
  DistArray const whole = u + 1.0;
  CHECK(part.layout()->sharding().cut(0) == Cut::balanced());
  CHECK_ALL(part.to_host() == std::vector<double>(3, 1.0));
  CHECK(whole.layout()->sharding() == u.sharding());
}

TEST_SUITE_END();
