#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/ops/partial.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/plan/access.hpp"

#include "axes.hpp"

using namespace tessera;
using test::Doubles;
using test::holds;
using test::in_each_layout;
using test::Integers;
using test::over;
using test::reduced_by;
using test::sent_by;

/// Reductions over some dimensions against lists of terms.
TEST_SUITE_BEGIN("ops/axis_reductions");

namespace {

// Terms whose naive sum depends on the order.
test::Mirror<double> rough(Shape const& shape) {
  test::Random random(static_cast<std::uint64_t>(cells_of(shape)) + shape.size());
  return test::Mirror<double>::made_of(shape, [&](Index const&) {
    return std::ldexp(static_cast<double>(random.between(-1'000'000'007, 1'000'000'007)),
                      static_cast<int>(random.between(-50, 50)));
  });
}

std::vector<NamedSharding> layouts_of_block() {
  Mesh const cube({{"a", 2}, {"b", 2}, {"c", 2}});
  return {
      {cube, P("a", "b", "c")},
      {cube, P("c", none, "a")},
      {cube, P(none, {"b", "c"}, none)},
      {cube, P(none, none, "b")},
      {Mesh({7, 2, 4, 1, 0, 6}, {3, 2}, {"p", "q"}), P("q", none, "p")},
      {Mesh({{"x", 8}}), P(none, none, "x")},
      {Mesh({{"x", 8}}), P("x", none, none),
       std::vector{Cut::explicit_sizes({0, 2, 0, 0, 1, 0, 1, 0}), Cut::balanced(), Cut::ceil()}}};
}

}  // namespace

TEST_CASE("sums along each dimension by hand") {
  for (auto const& sharding : {over(1, 1), over(2, 1), over(1, 3), over(2, 4)}) {
    CAPTURE(sharding);
    auto const u = iota<std::int64_t>({2, 3}, sharding);  // 0 1 2 / 3 4 5

    CHECK_ALL(holds(sum(u, axis(0)), Integers{3, 5, 7}));
    CHECK_ALL(holds(sum(u, axis(1)), Integers{3, 12}));
    CHECK_ALL(holds(sum(u, axis(-1)), Integers{3, 12}));
    CHECK_ALL(sum(u, axis(0, 1)) == 15);
    CHECK_ALL(holds(sum(u, axis(1).keep_dimensions()), Integers{3, 12}));
    CHECK_ALL(sum(u, axis(1).keep_dimensions()).shape() == Shape{2, 1});
    CHECK_ALL(holds(sum(u, axis(0, 1).keep_dimensions()), Integers{15}));
    CHECK_ALL(sum(u, axis(-1, 0).keep_dimensions()).shape() == Shape{1, 1});
  }
}

TEST_CASE("sums along dimensions have the same bits on any layout of a plane") {
  auto const m = rough({7, 11});
  auto const rows = reduced_by(m, {1}, test::sum_of);
  auto const columns = reduced_by(m, {0}, test::sum_of);
  in_each_layout(m, [&](auto const& u) {
    CHECK_ALL(holds(sum(u, axis(0)), columns));
    CHECK_ALL(holds(sum(u, axis(1)), rows));
    CHECK_ALL(holds(sum(u, axis(1).keep_dimensions()), rows));
  });
}

TEST_CASE("sums along dimensions have the same bits on any layout of a block") {
  auto const m = rough({4, 5, 6});
  for (auto const& sharding : layouts_of_block()) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 3>(m, sharding);
    CHECK_ALL(holds(sum(u, axis(0)), reduced_by(m, {0}, test::sum_of)));
    CHECK_ALL(holds(sum(u, axis(1)), reduced_by(m, {1}, test::sum_of)));
    CHECK_ALL(holds(sum(u, axis(2)), reduced_by(m, {2}, test::sum_of)));
    CHECK_ALL(holds(sum(u, axis(2, 0)), reduced_by(m, {0, 2}, test::sum_of)));
    CHECK_ALL(holds(sum(u, axis(0, 1)), reduced_by(m, {0, 1}, test::sum_of)));
    CHECK_ALL(holds(sum(u, axis(1, 2)), reduced_by(m, {1, 2}, test::sum_of)));
  }
}

TEST_CASE("long rows and columns go in blocks") {
  auto const m = rough({200, 150});
  for (auto const& sharding : {over(1, 1), over(3, 1), over(1, 5), over(4, 2)}) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    CHECK_ALL(holds(sum(u, axis(0)), reduced_by(m, {0}, test::sum_of)));
    CHECK_ALL(holds(sum(u, axis(1)), reduced_by(m, {1}, test::sum_of)));
  }
}

TEST_CASE("a result lies as its operand without the reduced dimensions") {
  Mesh const grid({{"y", 2}, {"x", 4}});
  auto const u = iota<double>({6, 9}, {grid, P("y", "x")});

  CHECK(sum(u, axis(0)).sharding() == NamedSharding(grid, P("x")));
  CHECK(sum(u, axis(1)).sharding() == NamedSharding(grid, P("y")));
  CHECK(sum(u, axis(0).keep_dimensions()).sharding() == NamedSharding(grid, P(none, "x")));
  DistArray const free = u - sum(u, axis(0).keep_dimensions()) / 6.0;
  CHECK(free.sharding() == u.sharding());
}

TEST_CASE("along a dimension that is not cut nothing is sent") {
  auto const u = iota<double>({16, 9}, {test::row(8), P("x", none)});
  auto const v = iota<double>({5, 9, 8}, {Mesh({{"a", 2}, {"b", 4}}), P(none, "a", "b")});

  auto const of_rows = sent_by([&] { (void)sum(u, axis(1)); });
  CHECK(of_rows.messages == 0);
  CHECK(of_rows.statements == process_count());
  CHECK(sent_by([&] { (void)sum(2.0 * u + 1.0, axis(1)); }).messages == 0);
  CHECK(sent_by([&] { (void)max(v, axis(0)); }).messages == 0);
  auto const replicated = iota<double>({16, 9}, {test::row(8), P(none, none)});
  CHECK(sent_by([&] { (void)sum(replicated, axis(0)); }).messages == 0);
}

TEST_CASE("along a cut dimension parts travel, not the many terms") {
  constexpr std::int64_t part = 32;
  auto const pair = iota<double>({1000, 5}, {test::row(2), P("x", none)});
  auto const one_each = sent_by([&] { (void)sum(pair, axis(0)); });
  CHECK(one_each.messages == 2);
  CHECK(one_each.bytes == 2 * 5 * part);

  // Eight devices: a seventh of the columns each, and then the values to all.
  auto const many = iota<double>({1000, 56}, {test::row(8), P("x", none)});
  auto const spread = sent_by([&] { (void)sum(many, axis(0)); });
  CHECK(spread.messages == 2 * 8 * 7);
  CHECK(spread.bytes == 7 * 56 * part + 7 * 56 * 8);

  // A grid: only the devices of one column of the mesh meet.
  auto const grid = iota<double>({100, 8}, over(2, 4));
  auto const columns = sent_by([&] { (void)sum(grid, axis(0)); });
  CHECK(columns.messages == 8);
  CHECK(columns.bytes == 2 * 8 * part);
}

TEST_CASE("a few terms on each device travel themselves, if they are fewer bytes than a part") {
  constexpr std::int64_t devices = 8, columns = 560;
  // To the device that adds up a share of the columns, and the sums from there to all.
  auto const sent_in = [&](auto of_type, std::int64_t rows) {
    using T = decltype(of_type);
    auto const u = full<T>({devices * rows, columns}, T(1), {test::row(devices), P("x", none)});
    auto const sent = sent_by([&] { (void)sum(u, axis(0)); });
    auto const values = (devices - 1) * columns * static_cast<std::int64_t>(sizeof(T));
    return (sent.bytes - values) / ((devices - 1) * columns);
  };
  auto const is_least = [&](auto of_type, std::int64_t part) {
    auto const term = static_cast<std::int64_t>(sizeof of_type);
    for (std::int64_t rows = 1; rows <= 20; ++rows) {
      CAPTURE(rows);
      CHECK(sent_in(of_type, rows) == std::min(rows * term, part));
    }
  };

  is_least(float(), 32);
  is_least(double(), 32);
  is_least(float16(), 32);
  is_least(std::complex<float>(), 64);
  is_least(std::complex<double>(), 64);
  is_least(std::int64_t(), 8);
}

TEST_CASE("a sum of one row a device sends what partial results send") {
  auto const u = full<float>({8, 1000}, 1.5F, {test::row(8), P("x", none)});

  auto const summed = sent_by([&] { (void)sum(u, axis(0)); });
  auto const partials = from_partials(full<float>({8, 1000}, 1.5F, {test::row(8), P("x", none)}));
  auto const added = sent_by([&] { (void)reshard(partials, {test::row(8), P(none)}); });

  CHECK(summed.bytes <= added.bytes);
}

TEST_CASE("few terms of several arrays, of slices, and of many boxes") {
  auto const m = rough({6, 9});
  auto const squares = test::combined<double>(
      {6, 9}, [](double x, double y) { return x * y; }, m, m);
  for (auto const& sharding : test::layouts_of_plane(6, 9)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    auto const v = test::spread_out<double, 2>(m, {sharding.mesh(), P(none, none)});
    CHECK_ALL(holds(sum(u * v, axis(0)), reduced_by(squares, {0}, test::sum_of)));
    CHECK_ALL(holds(sum(u * v, axis(1)), reduced_by(squares, {1}, test::sum_of)));
    CHECK_ALL(holds(sum(u(range(1, 5, 2), range(none, none, -1)), axis(0)),
                    reduced_by(m.slice({{1, 2, 2}, {8, -1, 9}}), {0}, test::sum_of)));
  }
}

TEST_CASE("a gather of another operand is not hidden by terms that travel") {
  auto const u = full<double>({4, 1000}, 1.0, {test::row(2), P("x", none)});
  auto const w = full<double>({4, 1000}, 2.0, {test::row(2), P(none, "x")});
  auto const gathers_of = [&](auto const& statement) {
    CommunicationBudget const budget({.gathers = 9});
    statement();
    return budget.used().gathers;
  };

  CHECK(gathers_of([&] { (void)sum(u, axis(0)); }) == 0);
  CHECK(gathers_of([&] { (void)sum(u + w, axis(0)); }) == 1);
  CHECK(gathers_of([&] { (void)sum(u + transpose(transpose(w)), axis(0)); }) == 1);
}

TEST_CASE("four devices spread the merging of many columns, however short the parts are") {
  auto const u = full<double>({400, 100}, 1.0, {test::row(4), P("x", none)});

  auto const sent = sent_by([&] { (void)sum(u, axis(0)); });

  CHECK(sent.bytes == 3 * 100 * (32 + 8));
}

TEST_CASE("many special terms in the boxes of a cyclic array travel as parts") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto m = rough({96, 7});
  for (std::int64_t i = 0; i < 96; ++i) {
    auto* const row = m.cells.data() + i * 7;
    if (i % 31 == 3) row[1] = infinity;
    if (i % 17 == 5) row[2] = -infinity;
    if (i == 50) row[3] = infinity;
    if (i == 11) row[3] = -infinity;
    row[4] = std::ldexp(row[4], 900);
    row[5] = std::ldexp(row[5], -1000);
  }
  Mesh const grid({{"a", 2}, {"b", 4}});
  for (auto const& sharding : {NamedSharding(test::row(3), P("x", none), Cut::cyclic(2)),
                               NamedSharding(grid, P("b", "a"), Cut::cyclic(3)),
                               NamedSharding(grid, P({"a", "b"}, none), Cut::cyclic(1))}) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    CHECK_ALL(holds(sum(u, axis(0)), reduced_by(m, {0}, test::sum_of)));
    CHECK_ALL(holds(sum(u + 0.0, axis(0)), reduced_by(m, {0}, test::sum_of)));
  }
}

TEST_CASE("parts that travel are no gather, and a budget counts their bytes") {
  auto const u = iota<std::int64_t>({8, 5}, {test::row(2), P("x", none)});
  {
    CommunicationBudget const budget({.messages = 1, .gathers = 0});
    CHECK_ALL(holds(sum(u, axis(0)), Integers{140, 148, 156, 164, 172}));
  }
  CommunicationBudget const budget({.bytes = 0});
  CHECK_THROWS_AS((void)sum(u, axis(0)), BudgetExceeded);
}

TEST_CASE("slices and expressions of any kind") {
  auto const m = rough({9, 10});
  auto const slice = m.slice({{1, 2, 4}, {3, 1, 6}});
  auto const layer = m.slice({{4, 1, 1}, {0, 1, 10}});
  in_each_layout(m, [&](auto const& u) {
    auto const part = u(range(1, none, 2), range(3, -1));
    CHECK_ALL(holds(sum(part, axis(0)), reduced_by(slice, {0}, test::sum_of)));
    CHECK_ALL(holds(sum(part, axis(1)), reduced_by(slice, {1}, test::sum_of)));
    CHECK_ALL(test::same_bits(Doubles{sum(u(4, tessera::all), axis(0))},
                              reduced_by(layer, {0, 1}, test::sum_of)));
    CHECK_ALL(holds(sum(u(4, tessera::all) + u(range(4, 6), tessera::all) * 0.0, axis(0)),
                    reduced_by(test::combined<double>(
                                   {2, 10}, [](double x) { return x; }, layer),
                               {0}, test::sum_of)));
  });
}

TEST_CASE("neighbours past constant and periodic edges") {
  auto const m = rough({6, 8});
  std::vector<test::Edges> const edges{{{BoundaryKind::constant, 7}, {BoundaryKind::constant, -3}},
                                       {test::Edge{}, test::Edge{}}};
  auto const moved = m.shifted({2, -1}, edges);
  in_each_layout(m, [&](auto const& u) {
    auto const e = shift(u, {2, -1}, {Boundaries(constant(7), constant(-3)), periodic});
    CHECK_ALL(holds(sum(e, axis(0)), reduced_by(moved, {0}, test::sum_of)));
    CHECK_ALL(holds(sum(e, axis(1)), reduced_by(moved, {1}, test::sum_of)));
  });
}

TEST_CASE("a dimension that no full array has is summed as well") {
  auto const a = test::scrambled<double>({6});
  auto const b = test::scrambled<double>({9});
  auto const product = test::Mirror<double>::made_of(
      {6, 9}, [&](Index const& i) { return a.at({i[0]}) * b.at({i[1]}); });
  for (auto const& rows : test::layouts_of_plane(6, 1)) {
    CAPTURE(rows);
    auto const u = from_host<double, 2>(std::span<double const>(a.cells), {6, 1}, rows);
    auto const v = test::spread_out<double, 1>(b, {rows.mesh(), P(none)});
    CHECK_ALL(holds(sum(u * v, axis(0)), reduced_by(product, {0}, test::sum_of)));
    CHECK_ALL(holds(sum(u * v, axis(1)), reduced_by(product, {1}, test::sum_of)));
  }
}

TEST_CASE("sums of no terms are zero, and arrays without cells have none") {
  for (auto const& sharding : {over(1, 1), over(2, 4), over(8, 1)}) {
    CAPTURE(sharding);
    auto const u = zeros<double>({3, 0}, sharding);
    CHECK_ALL(holds(sum(u, axis(1)), Doubles{0, 0, 0}));
    CHECK_ALL(holds(sum(u, axis(0)), Doubles{}));
    CHECK_ALL(holds(sum(u, axis(0).keep_dimensions()), Doubles{}));
    CHECK_ALL(sum(u, axis(0, 1)) == 0.0);
  }
}

TEST_CASE("axes that do not exist or come twice throw before anything is sent") {
  auto const u = iota<double>({4, 6}, over(2, 4));
  auto const before = counters();
  CHECK_ALL_THROW((void)sum(u, axis(2)), ShapeError);
  CHECK_ALL_THROW((void)sum(u, axis(-3)), ShapeError);
  CHECK_ALL_THROW((void)sum(u, axis(1, -1)), ShapeError);
  CHECK_ALL_THROW((void)sum(u, axis(0, 0).keep_dimensions()), ShapeError);
  CHECK_ALL(counters() == before);
  CHECK_ALL(holds(sum(u, axis(1)), Doubles{15, 51, 87, 123}));
}

TEST_CASE("a loop with sums along dimensions is planned once") {
  auto u = iota<double>({12, 10}, over(4, 2));
  auto const step = [&] { u = u - 0.1 * sum(u, axis(0).keep_dimensions()); };
  step();
  step();
  CHECK(sent_by(step).plans_made == 0);
}

TEST_SUITE_END();
