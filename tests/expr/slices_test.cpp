#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/plan/access.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::Edge;
using test::Edges;
using test::holds;
using test::Mirror;
using test::over;
using test::Spans;

/// Slices that run backwards and slices with new axes, read and written.
TEST_SUITE_BEGIN("expr/slices");

namespace {

Range const reversed = range(none, none, -1);

double average(double x, double y) {
  return 0.3 * x + 0.7 * y;
}

// The range as the mirror has it.
test::Span span_of(Range const& range, std::int64_t extent) {
  auto const resolved = range.resolve(extent);
  return {resolved.first, resolved.step, resolved.count};
}

}  // namespace

TEST_CASE("an array is turned round in place, on any layout") {
  for (std::int64_t const extent : {0, 1, 2, 3, 8, 11})
    for (auto const& sharding : test::layouts_of_row(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto m = test::scrambled<double>({extent});
      auto u = test::spread_out<double, 1>(m, sharding);

      u(tessera::all) = u(reversed);
      m = m.slice({span_of(reversed, extent)});
      CHECK_ALL(holds(u, m));

      u(reversed) = 0.3 * u(tessera::all);
      m = test::combined<double>(
          {extent}, [](double x) { return 0.3 * x; }, m.slice({span_of(reversed, extent)}));
      CHECK_ALL(holds(u, m));

      u(reversed) = u(reversed) + 1.0;  // pointwise
      m = test::combined<double>(
          {extent}, [](double x) { return x + 1.0; }, m);
      CHECK_ALL(holds(u, m));
    }
}

TEST_CASE("both sides may step backwards, each at its own pace") {
  std::vector<Range> const ranges{range(8, 2, -3), range(1, 5, 2),  range(-1, -3, -1),
                                  range(0, 2),     range(9, 0, -5), range(6, none, -4)};
  for (auto const& sharding : test::layouts_of_row(10))
    for (auto const& to : ranges)
      for (auto const& from_range : ranges) {
        CAPTURE(sharding);
        CAPTURE(to);
        CAPTURE(from_range);
        auto m = test::scrambled<double>({10});
        auto u = test::spread_out<double, 1>(m, sharding);
        auto const value = m.slice({span_of(from_range, 10)});

        u(to) = u(from_range);
        m.assign({span_of(to, 10)}, value);
        CHECK_ALL(holds(u, m));
      }
}

TEST_CASE("red cells are made of black ones, from the last to the first") {
  for (std::int64_t const extent : {9, 10, 17})
    for (auto const& sharding : test::layouts_of_row(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto m = test::scrambled<double>({extent});
      auto u = test::spread_out<double, 1>(m, sharding);
      auto const odd = (extent - 1) / 2;
      auto const last = 2 * odd - 1;  // the last odd cell with two neighbours
      for (int s = 0; s < 3; ++s) {
        u(range(last, none, -2)) =
            0.3 * u(range(last - 1, none, -2)) + 0.7 * u(range(last + 1, 1, -2));
        m.assign({{last, -2, odd}},
                 test::combined<double>({odd}, average, m.slice({{last - 1, -2, odd}}),
                                        m.slice({{last + 1, -2, odd}})));
      }
      CHECK_ALL(holds(u, m));
    }
}

TEST_CASE("planes are mirrored along one dimension or both") {
  for (auto const& sharding : test::layouts_of_plane(7, 10)) {
    CAPTURE(sharding);
    auto m = test::scrambled<double>({7, 10});
    auto u = test::spread_out<double, 2>(m, sharding);

    u = u(reversed, tessera::all);
    m = m.slice({{6, -1, 7}, {0, 1, 10}});
    CHECK_ALL(holds(u, m));

    u(tessera::all, reversed) = u(reversed, tessera::all) + 0.5 * u;
    m.assign({{0, 1, 7}, {9, -1, 10}}, test::combined<double>(
                                           {7, 10}, [](double x, double y) { return x + 0.5 * y; },
                                           m.slice({{6, -1, 7}, {0, 1, 10}}), m));
    CHECK_ALL(holds(u, m));

    u(range(5, 1, -2), range(8, none, -2)) = u(range(1, 3), range(2, 7));
    m.assign({{5, -2, 2}, {8, -2, 5}}, m.slice({{1, 1, 2}, {2, 1, 5}}));
    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("neighbours in a slice that runs backwards are those of the slice") {
  auto const m = test::scrambled<double>({11});
  std::vector<Edges> const kinds{{Edge{}, Edge{}},
                                 {{BoundaryKind::constant, 3}, {BoundaryKind::edge, 0}},
                                 {{BoundaryKind::edge, 0}, {BoundaryKind::constant, -2}},
                                 {{BoundaryKind::constant, 5}, {BoundaryKind::constant, 6}}};
  auto const to_boundary = [](Edge const& e) {
    return e.kind == BoundaryKind::constant ? Boundary(constant(e.value)) : Boundary(e.kind);
  };
  for (auto const& sharding : test::layouts_of_row(11)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 1>(m, sharding);
    auto v = zeros<double>({11}, sharding);
    auto w = zeros<double>({5}, over(3));
    for (auto const& kind : kinds)
      for (std::int64_t const offset : {1, -2, 7}) {
        CAPTURE(offset);
        Boundaries const both{to_boundary(kind.below), to_boundary(kind.above)};

        v = shift(u(reversed), offset, both);
        w = shift(u(range(9, none, -2)), offset, both);

        CHECK_ALL(holds(v, m.slice({{10, -1, 11}}).shifted({offset}, {kind})));
        CHECK_ALL(holds(w, m.slice({{9, -2, 5}}).shifted({offset}, {kind})));
      }
  }
}

TEST_CASE("new axes make rows and columns that broadcast") {
  auto const line = test::scrambled<double>({5});
  auto const plane = test::scrambled<double>({5, 6});
  for (auto const& of_plane : test::layouts_of_plane(5, 6))
    for (auto const& of_line : test::layouts_of_row(5)) {
      CAPTURE(of_plane);
      CAPTURE(of_line);
      auto u = test::spread_out<double, 2>(plane, of_plane);
      auto const v = test::spread_out<double, 1>(line, of_line);
      auto m = plane;
      auto column = line;
      column.shape = {5, 1};

      u = u + 0.1 * v(tessera::all, newaxis);
      m = test::combined<double>(
          {5, 6}, [](double x, double y) { return x + 0.1 * y; }, m, column);
      CHECK_ALL(holds(u, m));

      u(newaxis, tessera::all, range(0, 5)) = v(newaxis, newaxis, tessera::all);
      for (std::int64_t i = 0; i < 5; ++i) m.assign({{i, 1, 1}, {0, 1, 5}}, line);
      CHECK_ALL(holds(u, m));
    }
}

TEST_CASE("an outer product lies as its first factor") {
  auto const u = iota<std::int64_t>({3}, over(2));
  auto const v = iota<std::int64_t>({4}, over(3));

  DistArray const same = u(tessera::all, newaxis) * u(newaxis, tessera::all);
  DistArray const row = u(newaxis, tessera::all) + 0;
  DistArray const product(u(tessera::all, newaxis) * v(newaxis, tessera::all) + 0, over(2, 2));

  CHECK_ALL(same.sharding() == NamedSharding(test::row(2), P("x", none)));
  CHECK_ALL(row.sharding() == NamedSharding(test::row(2), P(none, "x")));
  CHECK_ALL(holds(same, std::vector<std::int64_t>{0, 0, 0, 0, 1, 2, 0, 2, 4}));
  CHECK_ALL(holds(product, std::vector<std::int64_t>{0, 0, 0, 0, 0, 1, 2, 3, 0, 2, 4, 6}));
}

TEST_CASE("a new axis is not shifted past a constant edge") {
  auto const u = iota<double>({4}, over(2));
  auto v = zeros<double>({3, 4}, over(2, 2));

  v = shift(u(newaxis, tessera::all), {5, 1}, {edge, periodic});
  CHECK_ALL(holds(v, std::vector<double>{1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0}));
  CHECK_ALL_THROW(v = shift(u(newaxis, tessera::all), {1, 0}, constant(7)), UsageError);
}

TEST_CASE("cells that are reversed where they lie are not sent") {
  auto u = iota<double>({6, 33}, {test::row(8), P(none, "x")});

  auto const sent = test::sent_by([&] {
    u = u(reversed, tessera::all) + 1.0;
    u(reversed, tessera::all) = u(tessera::all, tessera::all);
    u(tessera::all, reversed) = 2.0 * u(tessera::all, reversed);
  });

  CHECK(sent.messages == 0);
}

TEST_CASE("turning a row round sends each cell at most once") {
  auto u = iota<double>({32}, over(4));

  auto const sent = test::sent_by([&] { u = u(reversed); });

  CHECK(sent.messages == 4);  // device k gives all it has to device 3 - k
  CHECK(sent.bytes == 32 * 8);
}

TEST_SUITE_END();
