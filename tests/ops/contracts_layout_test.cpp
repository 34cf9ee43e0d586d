#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"

#include "support/arrays.hpp"
#include "support/shards.hpp"

#include "contracts.hpp"

using namespace tessera;
using test::device_counts;
using test::device_holds;
using test::has_devices;
using test::holds;
using test::over;
using test::row;
using test::sent_by;

/// The same answers wherever the cells lie: on copies, on uneven, empty and missing shards, on any
/// number of devices.
TEST_SUITE_BEGIN("ops/contracts_layout");

namespace {

using Doubles = test::Mirror<double>;
using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

// Cells 1 / scale, 2 / scale, … column by column.
Doubles by_columns(Shape const& shape, double scale) {
  return Doubles::made_of(shape, [&](Index const& i) {
    std::int64_t number = 0;
    for (std::size_t d = i.size(); d-- > 0;) number = number * shape[d] + i[d];
    return static_cast<double>(number + 1) / scale;
  });
}

// A row in each way that the devices of the job can hold it.
std::vector<NamedSharding> ways_to_lie(std::int64_t extent) {
  std::vector<NamedSharding> list;
  test::Random random(static_cast<std::uint64_t>(extent) + 7);
  for (auto const p : device_counts()) {
    list.push_back(over(p));
    list.emplace_back(row(p), P("x"), Cut::ceil());
    list.emplace_back(row(p), P("x"), Cut::unit(2));
    list.emplace_back(row(p), P("x"), Cut::explicit_sizes(test::random_sizes(random, extent, p)));
    list.emplace_back(row(p), P(none));
  }
  return list;
}

// What the program below leaves, by a plain loop.
Integers program_by_hand(std::int64_t extent) {
  auto const n = static_cast<std::size_t>(extent);
  Integers u(n);
  std::iota(u.begin(), u.end(), 1);
  auto const before = u;
  for (std::size_t i = 1; i + 1 < n; ++i) u[i] = before[i - 1] + 3 * before[i + 1];
  auto const total = std::accumulate(u.begin(), u.end(), std::int64_t{0});
  auto cells = u;
  for (std::size_t i = 0; i < n; ++i) cells.push_back(u[(i + n - 1) % n] + u[n - 1 - i] + total);
  return cells;
}

Integers program_on(NamedSharding const& sharding, std::int64_t extent) {
  auto u = from_index<std::int64_t>({extent}, sharding, [](auto const& i) { return i[0] + 1; });
  u(range(1, -1)) = u(range(0, -2)) + 3 * u(from(2));
  auto v = zeros<std::int64_t>({extent}, sharding);
  v = roll(u, 1) + flip(u) + sum(u);
  return concatenate(0, u, v).to_host();
}

// Some steps of heat with periodic columns, in an order of operations that every layout shares.
DistArray<double, 2> heated(NamedSharding const& sharding) {
  auto u = from_index<double>({17, 13}, sharding, [](auto const& i) {
    return 0.1 * static_cast<double>(i[0] * i[0]) + 0.3 * static_cast<double>(i[1]);
  });
  for (int step = 0; step < 5; ++step)
    u = 0.3 * u + 0.1 * shift(u, {1, 0}, edge) + 0.1 * shift(u, {-1, 0}, constant(0.7)) +
        0.1 * roll(u, 1, 1) + 0.1 * roll(u, -1, 1);
  return u;
}

// What the error says, alike on every process; empty if there was none. Ranks: collective.
template <class Act>
std::string refusal(Act const& act) {
  std::string said;
  try {
    act();
  } catch (Error const& error) {
    said = error.what();
  }
  CHECK_ALL(!said.empty());
  return said;
}

}  // namespace

TEST_CASE("a block has the same products cut, whole or in copies") {
  if (!has_devices(2)) return;
  Mesh const mesh({{"x", 1}, {"y", 2}});
  NamedSharding const cut(mesh, P("y", none, "x"));
  for (auto const& sharding :
       {cut, NamedSharding(mesh, P(none, "x", none)), NamedSharding(mesh, P(none, none, none))})
    for (double const scale : {1.0, 768.0}) {
      CAPTURE(sharding);
      auto const v = by_columns({16, 4, 12}, scale);
      auto x = test::spread_out<double, 3>(v, sharding);
      CHECK_ALL(holds(x, v));
      CHECK(sharding.shard_shape(x.shape()) ==
            (sharding == cut ? Shape{8, 4, 12} : Shape{16, 4, 12}));

      DistArray<double, 3> const y = 2 * x;
      x += 1;
      DistArray<double, 3> const z = x * y;

      CHECK(z.sharding() == sharding);
      CHECK_ALL(holds(z, test::combined<double>(
                             v.shape, [](double c) { return (c + 1) * (2 * c); }, v)));
      if (scale != 1) continue;
      // Of the cells 1, 2, 3: 2 * 2, 4 * 3, 6 * 4.
      CHECK_ALL(holds(DistArray<double, 1>(z(range(0, 3), 0, 0)), Numbers{4, 12, 24}));
    }
}

TEST_CASE("a matrix is the same in every layout of a mesh, with copies and without") {
  if (!has_devices(8)) return;
  Mesh const mesh({{"data", 2}, {"model", 4}});
  auto const m = by_columns({4, 4}, 1);
  auto const wanted = test::combined<double>(
      m.shape, [](double a, double b) { return 2 * a + b; }, m, test::transposed(m, {1, 0}));

  for (auto const& spec : {P("data", "model"), P("model", none), P(none, "model"),
                           P({"model", "data"}, none), P(none, none)}) {
    CAPTURE(spec);
    auto const u = test::spread_out<double, 2>(m, {mesh, spec});
    CHECK_ALL(holds(u, m));
    CHECK_ALL(holds(DistArray(2 * u + transpose(u)), wanted));
  }
  auto const rows = test::spread_out<double, 2>(m, {mesh, P("model", none)});
  for (std::int64_t k = 0; k < 8; ++k) {
    auto const first = static_cast<double>(k % 4);
    CHECK_ALL(device_holds(rows, k, {first + 1, first + 5, first + 9, first + 13}));
  }
}

TEST_CASE("each device works on its own samples of a batch, also where they do not divide") {
  if (!has_devices(4)) return;
  for (std::int64_t const samples : {8, 10})
    for (auto const& cut : {Cut::balanced(), Cut::ceil()}) {
      CAPTURE(samples);
      CAPTURE(cut);
      auto const m = test::scrambled<double>({samples, 2, 2, 3});
      auto const batch = test::spread_out<double, 4>(m, {row(4), P("x", none, none, none), cut});
      auto result = zeros<double>({samples, 2, 2, 3}, batch.sharding());

      auto const sent = sent_by([&] {
        result = 0.3 * batch + sqrt(batch);
        (void)sum(batch, axis(1, 2, 3));
      });

      CHECK(sent.messages == 0);
      CHECK_ALL(holds(result, test::combined<double>(
                                  m.shape, [](double x) { return 0.3 * x + std::sqrt(x); }, m)));
    }
}

TEST_CASE("matrices that lie alike are stacked where they lie") {
  if (!has_devices(2)) return;
  NamedSharding const rows(row(2), P("x", none));
  auto const a = iota<double>({10, 2}, rows);
  DistArray<double, 2> const b = a + 100;
  auto both = zeros<double>({1, 1, 1}, {row(1), P(none, none, none)});

  CHECK(sent_by([&] { both = DistArray(stack(0, a, b)); }).messages == 0);

  CHECK_ALL(both.shape() == Shape{2, 10, 2});
  Numbers halves[2];
  for (std::size_t k = 0; k < 2; ++k)
    for (int const more : {0, 100})
      for (int c = 0; c < 10; ++c)
        halves[k].push_back(static_cast<double>(10 * static_cast<int>(k) + c + more));
  CHECK_ALL(device_holds(both, 0, halves[0]));
  CHECK_ALL(device_holds(both, 1, halves[1]));
  if (!has_devices(3)) return;
  CHECK_ALL_THROW((void)zeros<double>({10, 2}, {row(3), P("x", none), Cut::strict()}),
                  ShardingError);
}

TEST_CASE("new dimensions are not cut, and a dropped one takes its entry along") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  auto const u = iota<double>({4, 6}, {mesh, P(none, "x")});
  auto front = zeros<double>({1, 1, 1}, {row(1), P(none, none, none)});
  auto back = front;
  auto again = u;

  auto const sent = sent_by([&] {
    front = DistArray<double, 3>(u(newaxis, tessera::all, tessera::all));
    back = DistArray<double, 3>(u(tessera::all, tessera::all, newaxis));
    again = DistArray<double, 2>(front(0, tessera::all, tessera::all));
    again = DistArray<double, 2>(back(tessera::all, tessera::all, -1));
  });

  CHECK(sent.messages == 0);
  CHECK(front.shape() == Shape{1, 4, 6});
  CHECK(front.sharding() == NamedSharding(mesh, P(none, none, "x")));
  CHECK(back.shape() == Shape{4, 6, 1});
  CHECK(back.sharding() == NamedSharding(mesh, P(none, "x", none)));
  CHECK(again.sharding() == u.sharding());
  CHECK_ALL(holds(front, u.to_host()));
  CHECK_ALL(holds(back, u.to_host()));
  CHECK_ALL(holds(again, u.to_host()));
  CHECK(DistArray<double, 1>(u(2, tessera::all)).sharding() == NamedSharding(mesh, P("x")));
  CHECK_ALL_THROW((void)reshape(u, {6}), ShapeError);
  CHECK_ALL_THROW((void)u(4, tessera::all), IndexError);
}

TEST_CASE("what is named and is not there is refused in words of its own, and nothing is sent") {
  auto const u = iota<double>({4, 6}, {row(1), P("x", none)});
  auto const devices = device_count();
  auto const before = counters();
  auto const on = [](std::vector<std::int64_t> const& list) {
    (void)zeros<double>({4}, {Mesh(list, {std::ssize(list)}, {"x"}), P("x")});
  };

  std::set<std::string> const said{refusal([&] { (void)sum(u, axis(-3)); }),
                                   refusal([&] { (void)sum(u, axis(1, -1)); }),
                                   refusal([&] {
                                     (void)transpose(u, {1, -1});
                                   }),
                                   refusal([&] {
                                     (void)Mesh({{"x", 0}});
                                   }),
                                   refusal([&] { on({devices}); }),
                                   refusal([&] {
                                     on({0, devices + 9});
                                   }),
                                   refusal([&] {
                                     on({0, 0});
                                   }),
                                   refusal([&] { (void)NamedSharding(row(1), P("y", none)); }),
                                   refusal([&] { (void)NamedSharding(row(1), P("x", "x")); }),
                                   refusal([&] {
                                     (void)zeros<double>({4, 6}, over(1));
                                   })};

  CHECK(said.size() == 10);
  CHECK_ALL(counters() == before);
  CHECK_ALL(holds(zeros<double>({0, 6}, u.sharding()), Numbers{}));
}

TEST_CASE("a program on few cells, or none, does what a loop does, whoever holds them") {
  for (std::int64_t const extent : {0, 1, 2, 3, 5, 9}) {
    auto const wanted = program_by_hand(extent);
    for (auto const& sharding : ways_to_lie(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      CHECK_ALL(test::same_bits(program_on(sharding, extent), wanted));
    }
  }
}

TEST_CASE("planes without cells are computed with, turned and moved, and send nothing") {
  for (auto const p : device_counts()) {
    CAPTURE(p);
    NamedSharding const rows(row(p), P("x", none));
    auto const u = zeros<double>({0, 5}, rows);
    auto v = zeros<double>({5, 0}, {row(p), P(none, "x")});

    auto const sent = sent_by([&] {
      v = transpose(u) + 1;
      v = v(range(none, none, -1), tessera::all) * 0.3;
      (void)reshard(v, over(1, p));
      (void)DistArray<double, 2>(shift(u, {1, 1}, constant(2)));
      (void)reshape(u, {5, 0, 3});
      (void)concatenate(0, u, u);
    });

    CHECK(sent.messages == 0);
    CHECK_ALL(v.to_host().empty());
    CHECK_ALL(sum(u) == 0);
    CHECK_ALL(holds(sum(u, axis(0)), Numbers(5, 0.0)));
    CHECK_ALL(holds(sum(u, axis(1)), Numbers{}));
  }
}

TEST_CASE("no reduction sees padding, ghost cells or the second buffer") {
  for (std::int64_t const extent : {1, 2, 5, 7, 10, 13})
    for (auto const& sharding : ways_to_lie(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto u = from_index<double>({extent}, sharding,
                                  [](auto const& i) { return static_cast<double>(i[0] + 3); });
      u = roll(u, 2) + roll(u, -2) - u;  // ghost cells and a second buffer
      auto const cells = u.to_host();
      auto const n = static_cast<double>(extent);
      auto const total = std::accumulate(cells.begin(), cells.end(), 0.0);
      auto const least = *std::min_element(cells.begin(), cells.end());
      auto const most = *std::max_element(cells.begin(), cells.end());

      CHECK_ALL(sum(u).value() == total);
      CHECK_ALL(mean(u).value() == total / n);
      // Above and below zero: a zero that does not belong would be the extreme.
      CHECK_ALL(min(u + 1000).value() == least + 1000);
      CHECK_ALL(max(u - 1000).value() == most - 1000);
      CHECK_ALL(tessera::all(u > -1000).value());
      CHECK_ALL(!any(u > 1000).value());
    }
}

TEST_CASE("no reduction along a dimension sees padding or ghost cells") {
  auto const m = Doubles::made_of(
      {5, 7}, [](Index const& i) { return static_cast<double>(100 + 7 * i[0] + i[1] * i[1]); });
  for (auto const p : device_counts())
    for (auto const& sharding :
         {over(p, 1), over(1, p), NamedSharding(row(p), P("x", none), Cut::ceil()),
          NamedSharding(row(p), P(none, "x"), Cut::ceil())}) {
      CAPTURE(sharding);
      auto u = test::spread_out<double, 2>(m, sharding);
      DistArray<double, 2> const wide = shift(u, {1, 1}, periodic) + shift(u, {-1, -1}, periodic);
      u = u + 0.0 * wide;

      CHECK_ALL(holds(min(u, axis(0)), Numbers{100, 101, 104, 109, 116, 125, 136}));
      CHECK_ALL(holds(max(0.0 - u, axis(1)), Numbers{-100, -107, -114, -121, -128}));
      CHECK_ALL(holds(mean(u, axis(0)), Numbers{114, 115, 118, 123, 130, 139, 150}));
      CHECK_ALL(holds(sum(u, axis(1)), Numbers{791, 840, 889, 938, 987}));
    }
}

TEST_CASE("the same program has the same bits on any number of devices") {
  auto const alone = heated(over(1, 1));
  auto const cells = alone.to_host();
  auto const name = hash(alone);
  auto const total = sum(alone).value();
  auto const spread = var(alone).value();
  for (auto const p : device_counts())
    for (auto const& sharding :
         {over(p, 1), over(1, p), over(p % 2 == 0 ? 2 : 1, p % 2 == 0 ? p / 2 : p),
          NamedSharding(row(p), P("x", none), Cut::ceil()), NamedSharding(row(p), P(none, none))}) {
      CAPTURE(sharding);
      auto const u = heated(sharding);
      CHECK_ALL(holds(u, cells));
      CHECK_ALL(hash(u) == name);
      CHECK_ALL(test::same_bits(Numbers{sum(u), var(u)}, Numbers{total, spread}));
    }
}

TEST_SUITE_END();
