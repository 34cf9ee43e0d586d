#include "tessera/ops/shape.hpp"

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/ops/reductions.hpp"

#include "src/plan/access.hpp"

#include "support/arrays.hpp"
#include "support/seeds.hpp"

#include "oracle.hpp"

using namespace tessera;
using test::Edge;
using test::holds;
using test::joined;
using test::Mirror;
using test::over;
using test::repeated;
using test::sent_by;

TEST_SUITE_BEGIN("ops/shape");

namespace {

using Integers = std::vector<std::int64_t>;
using Doubles = Mirror<double>;

Doubles in_shape(Doubles m, Shape const& shape) {
  m.shape = shape;
  return m;
}

}  // namespace

TEST_CASE("arrays are laid end to end along any axis, whatever their layouts") {
  auto const a = test::scrambled<double>({4, 5});
  auto const below = test::scrambled<double>({3, 5});
  auto const beside = test::scrambled<double>({4, 2});
  for (auto const& sharding : test::layouts_of_plane(4, 5)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(a, sharding);
    auto const v = test::spread_out<double, 2>(below, over(2, 3));
    auto const w = test::spread_out<double, 2>(beside, over(2, 3));
    if (!(u.sharding().mesh() == v.sharding().mesh())) {
      CHECK_ALL_THROW((void)concatenate(0, u, v), UsageError);
      continue;
    }
    CHECK_ALL(holds(concatenate(0, u, v), joined(a, below, 0)));
    CHECK_ALL(holds(concatenate(-1, u, w), joined(a, beside, 1)));
    CHECK_ALL(holds(concatenate(0, u, 1.0 * u, v), joined(joined(a, a, 0), below, 0)));
  }
  for (auto const& sharding : test::layouts_of_plane(4, 5)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(a, sharding);
    auto const both = concatenate(1, u, flip(u, 1));
    CHECK_ALL(both.sharding().spec() == sharding.spec());
    CHECK_ALL(holds(both, joined(a, a.slice({{0, 1, 4}, {4, -1, 5}}), 1)));
  }
}

TEST_CASE("empty arrays, one array and arrays of several types are joined") {
  auto const u = iota<std::int64_t>({3}, over(4));
  auto const none_of = zeros<std::int64_t>({0}, over(4));
  auto const half = full<double>({1}, 0.5, over(4));

  CHECK_ALL(holds(concatenate(0, none_of, u, none_of), Integers{0, 1, 2}));
  CHECK_ALL(holds(concatenate(0, u), Integers{0, 1, 2}));
  CHECK_ALL(holds(concatenate(0, u, half), std::vector<double>{0, 1, 2, 0.5}));
}

TEST_CASE("stacked arrays get an axis that counts them") {
  auto const a = test::scrambled<double>({4, 5});
  for (auto const& sharding : test::layouts_of_plane(4, 5)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(a, sharding);
    auto const with = [&](std::size_t axis) {
      Shape shape{4, 5};
      Shape wide;
      for (std::size_t d = 0; d < 3; ++d)
        wide.push_back(d < axis ? shape[d] : d == axis ? 2 : shape[d - 1]);
      return Doubles::made_of(wide, [&](Index const& i) {
        Index cell;
        for (std::size_t d = 0; d < 3; ++d)
          if (d != axis) cell.push_back(i[d]);
        return i[axis] == 0 ? a.at(cell) : 2 * a.at(cell);
      });
    };
    auto const first = stack(0, u, 2.0 * u);
    CHECK_ALL(holds(first, with(0)));
    CHECK_ALL(holds(stack(1, u, 2.0 * u), with(1)));
    CHECK_ALL(holds(stack(-1, u, 2.0 * u), with(2)));
    CHECK_ALL(first.sharding().spec() ==
              PartitionSpec({none, sharding.spec()[0], sharding.spec()[1]}));
    CHECK(sent_by([&] { (void)stack(0, u, 2.0 * u); }).messages == 0);
  }
}

TEST_CASE("a vector or a span of arrays is joined as its arrays are one by one") {
  std::vector<DistArray<double, 2>> parts;
  for (int k = 0; k < 5; ++k)
    parts.push_back(DistArray(iota<double>({2, 3}, over(2, 4)) + 10.0 * k));
  auto const three = std::span(parts).first(3);
  std::span<DistArray<double, 2> const> const one(parts.data(), 1);

  CHECK_ALL(all_equal(concatenate(0, three), concatenate(0, parts[0], parts[1], parts[2])));
  CHECK_ALL(
      all_equal(stack(-1, parts), stack(-1, parts[0], parts[1], parts[2], parts[3], parts[4])));
  CHECK_ALL(all_equal(stack(0, three), stack(0, parts[0], parts[1], parts[2])));
  CHECK_ALL(all_equal(concatenate(1, one), parts[0]));
  CHECK_ALL(concatenate(1, parts).sharding() == parts[0].sharding());

  std::vector const rows{parts[0](0, tessera::all), parts[1](1, tessera::all)};
  CHECK_ALL(holds(stack(0, rows), std::vector<double>{0, 1, 2, 13, 14, 15}));
  std::vector<DistArray<double, 2>> none_of_them;
  CHECK_ALL_THROW((void)concatenate(0, none_of_them), ShapeError);
  CHECK_ALL_THROW((void)stack(0, none_of_them), ShapeError);
  parts.push_back(zeros<double>({2, 2}, over(2, 4)));
  CHECK_ALL_THROW((void)stack(0, parts), ShapeError);
  CHECK_ALL_THROW((void)concatenate(0, parts), ShapeError);
  CHECK_ALL(concatenate(1, parts).shape() == Shape{2, 17});
}

TEST_CASE("single cells are stacked to a line") {
  auto const u = iota<std::int64_t>({3, 4}, over(2, 4));
  CHECK_ALL(holds(stack(0, u(1, 1), u(2, 3), 2 * u(0, 1)), Integers{5, 11, 2}));
}

TEST_CASE("each cell is repeated, few cells often or many cells a few times") {
  auto const m = test::scrambled<double>({3, 4});
  for (auto const& sharding : test::layouts_of_plane(3, 4)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    for (std::int64_t const count : {0, 1, 2, 7}) {
      CAPTURE(count);
      CHECK_ALL(holds(repeat(u, count, 0), repeated(m, count, 0)));
      CHECK_ALL(holds(repeat(u(tessera::all, range(none, none, -1)), count, -1),
                      repeated(m.slice({{0, 1, 3}, {3, -1, 4}}), count, 1)));
    }
  }
  CHECK_ALL(holds(repeat(iota<std::int64_t>({3}, over(8)), 2, 0), Integers{0, 0, 1, 1, 2, 2}));
}

TEST_CASE("what lies past the edges pads an array") {
  auto const m = test::scrambled<double>({3, 4});
  auto const of = [](BoundaryKind kind) { return Edge{kind, 0}; };
  Edge const three{BoundaryKind::constant, 3};
  for (auto const& sharding : test::layouts_of_plane(3, 4)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    auto const check = [&](Boundary const& rows, Boundary const& columns, Edge const& row_edge,
                           Edge const& column_edge) {
      auto const wanted =
          m.padded({2, 0}, {1, 5}, {{row_edge, row_edge}, {column_edge, column_edge}});
      CHECK_ALL(holds(DistArray(pad(u, {2, 0}, {1, 5}, {rows, columns})), wanted));
      DistArray<double, 2> elsewhere(wanted.shape, over(2, 4));
      elsewhere = 0.5 * pad(u, {2, 0}, {1, 5}, {rows, columns});
      CHECK_ALL(holds(elsewhere, test::combined<double>(
                                     wanted.shape, [](double x) { return 0.5 * x; }, wanted)));
    };
    check(constant(3), constant(3), three, three);
    check(periodic, periodic, {}, {});
    check(edge, constant(3), of(BoundaryKind::edge), three);
    check(reflect, symmetric, of(BoundaryKind::reflect), of(BoundaryKind::symmetric));
    check(symmetric, periodic, of(BoundaryKind::symmetric), {});
  }
}

TEST_CASE("what lies past the edges of an expression pads it") {
  auto const m = test::scrambled<double>({3, 4});
  auto const line = test::scrambled<double>({4});
  auto const value = test::combined<double>(
      {3, 4}, [](double x, double y) { return x * y - 1.0; }, m, line);
  for (auto const& sharding : test::layouts_of_plane(3, 4)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    auto const v = test::spread_out<double, 1>(line, over(3));
    auto const e = u * v - 1.0;
    auto const padded = [&](Boundaries const& boundary, Edge const& both) {
      auto wide = zeros<double>({6, 8}, over(2, 3));
      wide = pad(e, {1, 2}, {2, 2}, {boundary, boundary});
      return holds(wide, value.padded({1, 2}, {2, 2}, {{both, both}, {both, both}}));
    };
    CHECK_ALL(padded(periodic, {detail::BoundaryKind::periodic, 0}));
    CHECK_ALL(padded(edge, {detail::BoundaryKind::edge, 0}));
    CHECK_ALL(padded(reflect, {detail::BoundaryKind::reflect, 0}));
    CHECK_ALL(padded(symmetric, {detail::BoundaryKind::symmetric, 0}));
    CHECK_ALL(padded(constant(3), {detail::BoundaryKind::constant, 3}));

    Edge const three{detail::BoundaryKind::constant, 3};
    CHECK_ALL(holds(DistArray(pad(e, 1, 2, constant(3)), over(2, 3)),
                    value.padded({1, 1}, {2, 2}, {{three, three}, {three, three}})));
    Edge const around{detail::BoundaryKind::periodic, 0};
    CHECK_ALL(holds(DistArray(pad(e, {0, 5}, {2, 0}, periodic), over(2, 3)),
                    value.padded({0, 5}, {2, 0}, {{around, around}, {around, around}})));
  }
}

TEST_CASE("a padded row by the numbers of a page of paper") {
  auto const u = iota<std::int64_t>({3}, over(2));
  auto const one = full<std::int64_t>({1}, 7, over(2));
  auto const empty = zeros<std::int64_t>({0}, over(2));

  CHECK_ALL(holds(DistArray(pad(u, 1, 2, constant(9))), Integers{9, 0, 1, 2, 9, 9}));
  CHECK_ALL(holds(DistArray(pad(u, 0, 4, reflect)), Integers{0, 1, 2, 1, 0, 1, 2}));
  CHECK_ALL(holds(DistArray(pad(one, 2, 1, constant(0))), Integers{0, 0, 7, 0}));
  CHECK_ALL(holds(DistArray(pad(one, 1, 1, edge)), Integers{7, 7, 7}));
  CHECK_ALL(holds(DistArray(pad(empty, 1, 1, constant(4))), Integers{4, 4}));
  CHECK_ALL(holds(DistArray(pad(u(range(none, none, -1)), 1, 0, {constant(5), edge})),
                  Integers{5, 2, 1, 0}));
  CHECK_ALL(holds(DistArray(pad(u, 0, 0, periodic)), Integers{0, 1, 2}));
  CHECK_ALL(DistArray(pad(u, 1, 2, constant(9))).sharding() == over(2));
}

TEST_CASE("any shape becomes any other, on any layout") {
  std::vector<Shape> const planes{{6, 4}, {4, 6}, {1, 24}, {24, 1}, {8, 3}, {2, 12}};
  for (auto const& from_shape : planes)
    for (auto const& sharding : test::layouts_of_plane(from_shape[0], from_shape[1])) {
      CAPTURE(from_shape);
      CAPTURE(sharding);
      auto const m = test::scrambled<double>(from_shape);
      auto const u = test::spread_out<double, 2>(m, sharding);
      CHECK_ALL(holds(reshape(u, {24}), in_shape(m, {24})));
      CHECK_ALL(holds(reshape(u, {3, 8}), in_shape(m, {3, 8})));
      CHECK_ALL(holds(reshape(u, {2, 1, 3, 4}), in_shape(m, {2, 1, 3, 4})));
      CHECK_ALL(holds(reshape(u, {1, 6, 1, 4}), in_shape(m, {1, 6, 1, 4})));
      CHECK_ALL(reshape(u, {4, -1}).shape() == Shape{4, 6});
    }
}

TEST_CASE("random arrays of three dimensions are reshaped and back") {
  test::Random random(test::seed_of_all(5));
  for (int round = 0; round < 40; ++round) {
    auto const a = random.between(1, 4);
    auto const b = random.between(1, 4);
    auto const c = random.between(1, 5);
    auto const sharding = test::random_sharding(random, device_count(), {a, b, c});
    CAPTURE(sharding);
    auto const m = test::scrambled<double>({a, b, c});
    auto const u = test::spread_out<double, 3>(m, sharding);

    auto const fused = reshape(u, {a, b * c});
    auto const flat = reshape(fused, {-1});
    auto const turned = reshape(flat, {c, b, a});

    CHECK_ALL(holds(fused, m));
    CHECK_ALL(holds(flat, m));
    CHECK_ALL(holds(turned, m));
    CHECK_ALL(turned.shape() == Shape{c, b, a});
    CHECK_ALL(holds(reshape(turned, {a, b, c}), m));
    CHECK_ALL(holds(reshape(u + 1.0, {b * a, c}),
                    test::combined<double>(
                        {b * a, c}, [](double x) { return x + 1.0; }, in_shape(m, {b * a, c}))));
  }
}

TEST_CASE("a reshaped array has cells of its own") {
  auto u = iota<std::int64_t>({2, 3}, over(2, 2));
  auto const same = reshape(u, {2, 3});
  auto const flat = reshape(u, {6});
  u = 0;
  CHECK_ALL(same.sharding() == u.sharding());
  CHECK_ALL(holds(same, Integers{0, 1, 2, 3, 4, 5}));
  CHECK_ALL(holds(flat, Integers{0, 1, 2, 3, 4, 5}));
}

TEST_CASE("dimensions that are not cut, or in whole rows, are split and fused without a message") {
  auto const rows = test::row(4);
  auto const u = iota<double>({6, 12}, {rows, P("x", none)});
  auto const line = iota<double>({24}, {rows, P("x")});
  auto const columns = iota<double>({6, 12}, {rows, P(none, "x")});

  auto const sent = sent_by([&] {
    (void)reshape(u, {6, 3, 4});
    (void)reshape(u, {72});
    (void)reshape(u, {1, 6, 12});
    (void)reshape(line, {4, 6});
    (void)reshape(line, {8, 3});
    (void)reshape(columns, {2, 3, 12});
    (void)reshape(reshape(u, {72}), {6, 12});
  });

  CHECK(sent.messages == 0);
  CHECK_ALL(reshape(u, {6, 3, 4}).sharding() == NamedSharding(rows, P("x", none, none)));
  CHECK_ALL(reshape(u, {72}).sharding() == NamedSharding(rows, P("x"), Cut::unit(12)));
  CHECK_ALL(reshape(line, {8, 3}).sharding() == NamedSharding(rows, P("x", none)));
  CHECK_ALL(reshape(columns, {2, 3, 12}).sharding() == NamedSharding(rows, P(none, none, "x")));
}

TEST_CASE("splitting a line that is not in whole rows sends the rest of a row only") {
  auto const line = iota<double>({24}, {test::row(4), P("x")});     // 6 6 6 6
  auto const sent = sent_by([&] { (void)reshape(line, {6, 4}); });  // 8 8 4 4
  CHECK(sent.messages == 3);
  CHECK(sent.bytes == (2 + 4 + 2) * 8);
}

TEST_CASE("arrays without cells are reshaped too") {
  auto const u = zeros<double>({0, 4}, over(2, 2));
  CHECK_ALL(reshape(u, {3, 0, 5}).shape() == Shape{3, 0, 5});
  CHECK_ALL(reshape(u, {0}).to_host().empty());
}

TEST_CASE("shapes that do not fit, before anything is sent") {
  auto const u = iota<double>({6}, over(4));
  auto const v = iota<double>({4, 6}, over(2, 4));
  auto const before = counters();

  CHECK_ALL_THROW((void)reshape(u, {4}), ShapeError);
  CHECK_ALL_THROW((void)reshape(u, {4, -1}), ShapeError);
  CHECK_ALL_THROW((void)reshape(u, {-1, -1}), ShapeError);
  CHECK_ALL_THROW((void)reshape(u, {-2, -3}), ShapeError);
  CHECK_ALL_THROW((void)concatenate(0, v, v(tessera::all, range(0, 3))), ShapeError);
  CHECK_ALL_THROW((void)concatenate(2, v, v), ShapeError);
  CHECK_ALL_THROW((void)stack(0, u, u(from(1))), ShapeError);
  CHECK_ALL_THROW((void)stack(2, u, u), ShapeError);
  CHECK_ALL_THROW((void)repeat(u, -1, 0), ShapeError);
  CHECK_ALL_THROW((void)pad(u, -1, 0, edge), ShapeError);
  CHECK_ALL_THROW((void)pad(v, {1}, {1}, edge), ShapeError);
  CHECK_ALL_THROW((void)pad(u, 1, 1, {periodic, edge}), UsageError);
  CHECK_ALL_THROW((void)pad(u(range(0, 0)), 1, 1, periodic), ShapeError);

  CHECK_ALL(counters() == before);
}

TEST_CASE("views of no dimensions are summed") {
  auto const u = iota<double>({3, 4}, over(2, 4));

  CHECK_ALL(static_cast<double>(sum(u(1, 2))) == 6.0);
  CHECK_ALL(static_cast<double>(max(transpose(u)(3, 2) * 2.0)) == 22.0);
  CHECK_ALL(static_cast<double>(sum(u(newaxis, tessera::all, newaxis, range(none, none, -2)))) ==
            36.0);
  CHECK_ALL(static_cast<double>(sum(transpose(u) * flip(transpose(u)))) == 220.0);
}

TEST_SUITE_END();
