#include <numeric>

#include <doctest/doctest.h>

#include "tessera/array/rearrange.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/base/error.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/plan/access.hpp"

#include "support/arrays.hpp"
#include "support/shards.hpp"

using namespace tessera;
using test::holds;
using test::over;
using test::row;
using test::scrambled;
using test::sent_by;
using test::spread_out;

/// Arrays of which a device owns several boxes, as operands and as targets.
TEST_SUITE_BEGIN("ops/several_boxes");

namespace {

constexpr std::int64_t word = 8;

using Doubles = test::Mirror<double>;

NamedSharding dealt(std::int64_t devices, std::int64_t block) {
  return {row(devices), P("x"), Cut::cyclic(block)};
}
NamedSharding stacked(std::int64_t devices, std::int64_t first, std::int64_t second) {
  return {row(devices), P("x"), Cut::segments({first, second})};
}

// For 11 cells: blocks that leave one short, devices without a block, segments that are too small.
std::vector<NamedSharding> rows_of_boxes() {
  return {dealt(2, 3), dealt(3, 1), dealt(8, 1), dealt(8, 2), stacked(3, 4, 7), stacked(8, 9, 2)};
}

// For 6 rows of 8: boxes along one dimension or both, and copies.
std::vector<NamedSharding> planes_of_boxes() {
  Mesh const grid({{"a", 2}, {"b", 4}});
  auto const halves = Cut::segments({3, 5});
  return {{grid, P("a", "b"), {Cut::cyclic(1), halves}},
          {grid, P(none, "b"), Cut::cyclic(1)},
          {grid, P("a", none), Cut::segments({2, 4})},
          {grid, P("b", "a"), {Cut::balanced(), Cut::cyclic(3)}},
          {Mesh({5, 0, 3}, {3}, {"x"}), P("x", none), Cut::cyclic(1)}};
}

// For 101 cells: enough boxes that a plan keeps their steps, and some that break them.
std::vector<NamedSharding> rows_of_many_boxes() {
  return {over(3), dealt(2, 1), dealt(2, 3), dealt(3, 2), dealt(8, 1), stacked(3, 40, 61)};
}

// For 22 rows of 26.
std::vector<NamedSharding> planes_of_many_boxes() {
  Mesh const grid({{"a", 2}, {"b", 4}});
  return {over(2, 2),
          {grid, P("a", "b"), Cut::cyclic(1)},
          {grid, P("b", "a"), {Cut::cyclic(2), Cut::cyclic(1)}},
          {grid, P("a", none), Cut::cyclic(1)},
          {grid, P(none, "b"), {Cut::balanced(), Cut::cyclic(3)}}};
}

}  // namespace

TEST_CASE("cells come back from several boxes as they went in") {
  for (auto const& sharding : rows_of_boxes()) {
    CAPTURE(sharding);
    auto const cells = scrambled<double>({11});
    auto const u = spread_out<double, 1>(cells, sharding);

    CHECK_ALL(holds(u, cells));
    CHECK_ALL(holds(iota<double>({11}, sharding), iota<double>({11}, over(1)).to_host()));
    CHECK_ALL(hash(u) == hash(spread_out<double, 1>(cells, over(3))));
  }
}

TEST_CASE("each box is a shard of its own") {
  auto const u = iota<double>({10}, dealt(2, 3));
  std::int64_t shards = 0;
  bool right = true;
  test::look_at_shards(u, [&](auto const& view) {
    ++shards;
    for (std::int64_t i = 0; i < view.extent(0); ++i)
      right = right && view(i) == static_cast<double>(view.box().lo[0] + i);
  });

  CHECK_ALL(right);
  CHECK(test::total_over_processes(shards) == 4);
}

TEST_CASE("a cell of one box is written without touching the others") {
  for (auto const& sharding : rows_of_boxes()) {
    CAPTURE(sharding);
    auto cells = scrambled<double>({11});
    auto u = spread_out<double, 1>(cells, sharding);

    u(7) = -1.0;
    u(range(1, 10, 4)) = 0.3;

    cells.at({7}) = -1.0;
    for (auto const i : {1, 5, 9}) cells.at({i}) = 0.3;
    CHECK_ALL(holds(u, cells));
  }
}

TEST_CASE("arrays cut alike are computed in place and send nothing") {
  for (auto const& sharding : rows_of_boxes()) {
    CAPTURE(sharding);
    auto const a = scrambled<double>({11});
    auto u = spread_out<double, 1>(a, sharding);
    DistArray v = 0.3 * u;
    CHECK(v.sharding() == sharding);

    auto const sent = sent_by([&] {
      u = 0.1 * u + v;
      u(range(2, 9)) += v(range(2, 9));
      u(u > 20.0) = 7.0;
    });

    CHECK(sent.messages == 0);
    auto const expected = Doubles::made_of({11}, [&](Index const& i) {
      auto x = 0.1 * a.at(i) + 0.3 * a.at(i);
      if (i[0] >= 2 && i[0] < 9) x += 0.3 * a.at(i);
      return x > 20.0 ? 7.0 : x;
    });
    CHECK_ALL(holds(u, expected));
  }
}

TEST_CASE("such a statement is no gather") {
  auto u = iota<double>({12}, stacked(2, 4, 8));
  CommunicationBudget const budget({.messages = 0, .gathers = 0});

  CHECK_NOTHROW(u = 0.3 * u);
}

TEST_CASE("neighbours are found in other boxes, past every kind of edge") {
  std::vector<std::pair<Boundary, test::Edge>> const kinds{
      {periodic, {BoundaryKind::periodic}},
      {constant(4), {BoundaryKind::constant, 4}},
      {edge, {BoundaryKind::edge}},
      {reflect, {BoundaryKind::reflect}},
      {symmetric, {BoundaryKind::symmetric}}};
  auto const cells = scrambled<double>({11});
  for (auto const& sharding : rows_of_boxes())
    for (auto const& [boundary, mirrored] : kinds)
      for (std::int64_t const by : {-4, -1, 1, 2, 13}) {
        CAPTURE(sharding);
        CAPTURE(by);
        auto u = spread_out<double, 1>(cells, sharding);
        auto v = zeros<double>({11}, over(3));

        v = shift(u, {by}, boundary);
        u = shift(u, {by}, boundary);

        auto const expected = cells.shifted({by}, {{mirrored, mirrored}});
        CHECK_ALL(holds(u, expected));
        CHECK_ALL(holds(v, expected));
      }
}

TEST_CASE("a stencil over several boxes sends one message to each neighbour and step") {
  // Blocks of 3 on two devices: 0 1 0 1. Each block lacks a cell on both sides.
  auto u = iota<double>({12}, dealt(2, 3));
  auto const inner = range(1, -1);
  auto const step = [&] { u(inner) = 0.3 * u(inner) + 0.1 * u(range(0, -2)) + 0.1 * u(from(2)); };
  auto expected = iota<double>({12}, over(1));

  for (int s = 0; s < 3; ++s) {
    expected(inner) =
        0.3 * expected(inner) + 0.1 * expected(range(0, -2)) + 0.1 * expected(from(2));
    auto const sent = sent_by(step);
    CHECK(sent.messages == 2);
    CHECK(sent.plans_made == (s == 0 ? process_count() : 0));
  }
  CHECK_ALL(holds(u, expected.to_host()));
}

TEST_CASE("what a device reads may be its own and lie in several boxes") {
  // Cells dealt out one by one to two devices: device 0 has the even ones.
  auto const u = iota<double>({12}, dealt(2, 1));
  auto v = zeros<double>({3}, over(1));

  auto const sent = sent_by([&] { v = u(range(2, 8, 2)); });

  CHECK(sent.messages == 0);
  CHECK_ALL(holds(v, {2, 4, 6}));
}

TEST_CASE("dealing out and bringing together send one message per peer") {
  auto const cells = scrambled<double>({24});
  auto const u = spread_out<double, 1>(cells, over(4));

  std::vector<DistArray<double, 1>> results;
  auto const out = sent_by([&] { results.push_back(reshard(u, dealt(4, 1))); });
  auto const back = sent_by([&] { results.push_back(reshard(results[0], over(4))); });

  // Of its six cells, a device keeps one or two, which is six in all.
  CHECK(out.messages == 12);
  CHECK(out.bytes == 18 * word);
  CHECK(back.messages == 12);
  CHECK(back.bytes == 18 * word);
  CHECK_ALL(holds(results[0], cells));
  CHECK_ALL(holds(results[1], cells));
}

TEST_CASE("any layout turns into any other") {
  auto const cells = scrambled<double>({6, 8});
  auto others = planes_of_boxes();
  others.push_back(over(2, 4));
  others.push_back({row(1), P(none, none)});
  for (auto const& from : planes_of_boxes())
    for (auto const& to : others) {
      CAPTURE(from);
      CAPTURE(to);
      auto const u = spread_out<double, 2>(cells, from);
      auto const v = reshard(u, to);
      CHECK_ALL(holds(v, cells));
      CHECK_ALL(holds(reshard(v, from), cells));
    }
}

TEST_CASE("a projection's gate and up columns meet without a message") {
  // Columns [gate | up] of 4 and 4, each cut in two: the halves that belong together lie together.
  NamedSharding const columns(row(2), P(none, "x"), Cut::segments({4, 4}));
  NamedSharding const half(row(2), P(none, "x"));
  auto const cells = scrambled<double>({3, 8});
  auto const both = spread_out<double, 2>(cells, columns);
  auto result = zeros<double>({3, 4}, half);

  auto const sent =
      sent_by([&] { result = both(tessera::all, range(0, 4)) * both(tessera::all, range(4, 8)); });

  CHECK(sent.messages == 0);
  CHECK_ALL(holds(result, Doubles::made_of({3, 4}, [&](Index const& i) {
                    return cells.at(i) * cells.at({i[0], i[1] + 4});
                  })));
}

TEST_CASE("views, transposes and broadcasts of several boxes") {
  auto const cells = scrambled<double>({6, 8});
  for (auto const& sharding : planes_of_boxes()) {
    CAPTURE(sharding);
    auto u = spread_out<double, 2>(cells, sharding);
    DistArray turned = transpose(u);
    DistArray fourth = u(tessera::all, 3);
    auto const spread = iota<double>({8}, dealt(3, 2));

    u(range(5, none, -2), range(1, 7)) = u(range(0, 3), range(7, 1, -1)) + spread(range(1, 7));

    auto expected = cells;
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 6; ++j)
        expected.at({5 - 2 * i, 1 + j}) = cells.at({i, 7 - j}) + static_cast<double>(1 + j);
    CHECK_ALL(holds(u, expected));
    CHECK_ALL(holds(turned, test::transposed(cells, {1, 0})));
    CHECK_ALL(holds(fourth, cells.slice({{0, 1, 6}, {3, 1, 1}}).cells));
  }
}

TEST_CASE("sums of several boxes have the bits of any other layout") {
  auto const cells = scrambled<double>({6, 8});
  auto const plain = spread_out<double, 2>(cells, over(1, 1));
  for (auto const& sharding : planes_of_boxes()) {
    CAPTURE(sharding);
    auto const u = spread_out<double, 2>(cells, sharding);

    CHECK_ALL(double{sum(u)} == double{sum(plain)});
    CHECK_ALL(double{norm(u(range(1, 5), tessera::all))} ==
              double{norm(plain(range(1, 5), tessera::all))});
    CHECK_ALL(holds(sum(u, axis(0)), sum(plain, axis(0)).to_host()));
    CHECK_ALL(holds(sum(0.1 * u, axis(1)), sum(0.1 * plain, axis(1)).to_host()));
    CHECK_ALL(holds(max(u, axis(0).keep_dimensions()), max(plain, axis(0)).to_host()));
    CHECK_ALL(holds(argmin(u, axis(1)), argmin(plain, axis(1)).to_host()));
  }
}

TEST_CASE("slices between dozens of boxes") {
  auto const a = scrambled<double>({101});
  auto const b = Doubles::made_of({101}, [&](Index const& i) { return 0.7 * a.at({100 - i[0]}); });
  for (auto const& from : rows_of_many_boxes())
    for (auto const& to : rows_of_many_boxes())
      for (bool const forwards : {true, false}) {
        CAPTURE(from);
        CAPTURE(to);
        auto const u = spread_out<double, 1>(a, from);
        auto v = spread_out<double, 1>(b, to);
        auto const w = spread_out<double, 1>(b, dealt(5, 1));

        auto const source = forwards ? range(0, 97) : range(98, 1, -1);
        v(range(2, 99)) = 0.3 * u(source) + w(range(4, 101));
        v(range(3, 100, 2)) += u(range(1, 98, 2));
        v(range(40, 90)) = v(range(20, 70));

        auto expected = b;
        for (std::int64_t i = 0; i < 97; ++i)
          expected.at({i + 2}) = 0.3 * a.at({forwards ? i : 98 - i}) + b.at({i + 4});
        for (std::int64_t i = 0; i < 49; ++i) expected.at({3 + 2 * i}) += a.at({1 + 2 * i});
        auto const before = expected;
        for (std::int64_t i = 0; i < 50; ++i) expected.at({40 + i}) = before.at({20 + i});
        CHECK_ALL(holds(v, expected));
      }
}

TEST_CASE("planes of dozens of boxes: stencils, transposes and sums") {
  auto const a = scrambled<double>({22, 26});
  auto const plain = spread_out<double, 2>(a, over(1, 1));
  for (auto const& from : planes_of_many_boxes())
    for (auto const& to : planes_of_many_boxes()) {
      CAPTURE(from);
      CAPTURE(to);
      auto const u = spread_out<double, 2>(a, from);
      auto v = zeros<double>({22, 26}, to);
      auto turned = zeros<double>({26, 22}, to);

      v = 0.5 * shift(u, {1, 0}, periodic) + shift(u, {0, -2}, edge) + u(0, tessera::all);
      turned = transpose(u);

      auto const rolled =
          a.shifted({1, 0}, {2, {{BoundaryKind::periodic}, {BoundaryKind::periodic}}});
      auto const clamped = a.shifted({0, -2}, {2, {{BoundaryKind::edge}, {BoundaryKind::edge}}});
      CHECK_ALL(holds(v, Doubles::made_of({22, 26}, [&](Index const& i) {
                        return 0.5 * rolled.at(i) + clamped.at(i) + a.at({0, i[1]});
                      })));
      CHECK_ALL(holds(turned, test::transposed(a, {1, 0})));
      CHECK_ALL(double{sum(u * v)} == double{sum(plain * v)});
      CHECK_ALL(holds(sum(u, axis(0)), sum(plain, axis(0)).to_host()));
      CHECK_ALL(holds(max(u, axis(1)), max(plain, axis(1)).to_host()));
      CHECK_ALL(holds(reshard(u, to), a));
    }
}

TEST_CASE("new arrays are cut like their operands where that fits") {
  auto const u = iota<double>({12}, stacked(2, 4, 8));
  DistArray same = u + 1.0;
  DistArray shorter = u(range(0, 7)) + 1.0;
  DistArray dealt_too = iota<double>({12}, dealt(2, 3))(range(0, 7)) + 1.0;

  CHECK(same.sharding() == u.sharding());
  CHECK(shorter.sharding() == over(2));
  CHECK(dealt_too.sharding() == dealt(2, 3));
  CHECK_ALL(holds(shorter, {1, 2, 3, 4, 5, 6, 7}));
  CHECK_ALL(holds(dealt_too, {1, 2, 3, 4, 5, 6, 7}));
}

TEST_CASE("reshape, concatenate and pad take several boxes") {
  auto const cells = scrambled<double>({6, 8});
  for (auto const& sharding : planes_of_boxes()) {
    CAPTURE(sharding);
    auto const u = spread_out<double, 2>(cells, sharding);

    CHECK_ALL(holds(reshape(u, {48}), cells.cells));
    CHECK_ALL(holds(reshape(u, {6, 2, 4}), cells.cells));
    CHECK_ALL(holds(reshape(u, {2, 3, 8}), cells.cells));
    auto twice = cells.cells;
    twice.insert(twice.end(), cells.cells.begin(), cells.cells.end());
    CHECK_ALL(holds(concatenate(0, u, u), twice));
  }
}

TEST_CASE("from_local takes a piece for each box") {
  auto const cells = scrambled<double>({11});
  for (auto const& sharding : rows_of_boxes()) {
    CAPTURE(sharding);
    std::vector<LocalPiece<double>> pieces;
    for (auto const device : addressable_devices())
      for (auto const& box : sharding.boxes_of(device.id, {11}))
        pieces.push_back({box, std::span(cells.cells)
                                   .subspan(static_cast<std::size_t>(box.lo[0]),
                                            static_cast<std::size_t>(box.cells()))});

    CHECK_ALL(holds(from_local<double>(pieces, {11}, sharding), cells));
  }
}

TEST_SUITE_END();
