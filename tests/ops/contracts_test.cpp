#include <array>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"
#include "tessera/runtime/budget.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"
#include "support/shards.hpp"

using namespace tessera;
using test::holds;
using test::Mirror;
using test::sent_by;
using test::spread_out;

/// Small programs whose answers, owners and messages are known by hand.
TEST_SUITE_BEGIN("ops/contracts");

namespace {

using Doubles = Mirror<double>;
using Numbers = std::vector<double>;

Mesh grid() {
  return Mesh({{"y", 2}, {"x", 4}});
}
Mesh square() {
  return Mesh({{"y", 2}, {"x", 2}});
}

// A tall array in blocks of 512 x 3.
NamedSharding blocks() {
  return {grid(), P("y", "x")};
}
Doubles tall(std::int64_t rows, std::int64_t columns) {
  return Doubles::made_of({rows, columns}, [](Index const& i) {
    return 0.1 * static_cast<double>(i[0]) + 0.3 * static_cast<double>(i[1] * i[1]);
  });
}

// True if every shard that this process has holds just these cells. Ranks: collective.
template <class T, std::size_t N, class Cell>
bool shards_hold(DistArray<T, N> const& u, Cell const& cell_at) {
  bool good = true;
  test::look_at_shards(u, [&](auto const& shard) {
    test::for_each_cell(shard.box(), [&](Index const& i) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < N; ++d) offset += (i[d] - shard.box().lo[d]) * shard.stride(d);
      good = good && shard.data()[offset] == cell_at(i);
    });
  });
  return test::agree(good);
}

// The box that a device has of an array.
template <class T, std::size_t N>
Box box_on(DistArray<T, N> const& u, std::int64_t device) {
  return u.layout()->box_of(DeviceId(device));
}

}  // namespace

TEST_CASE("an array in row blocks and in square blocks has the same sines" * test::not_on_cuda()) {
  auto const m = Mirror<double>::made_of(
      {40, 40}, [](Index const& i) { return static_cast<double>(1 + i[0] + 40 * i[1]); });
  Mesh const rows({{"x", 4}, {"y", 1}});
  auto const by_rows = spread_out<double, 2>(m, {rows, P("x", none)});
  auto const by_blocks = spread_out<double, 2>(m, {square(), P("y", "x")});

  for (std::int64_t k = 0; k < 4; ++k) {
    CHECK(box_on(by_rows, k) == Box{{10 * k, 0}, {10 * k + 10, 40}});
    CHECK(box_on(by_blocks, k) ==
          Box{{20 * (k / 2), 20 * (k % 2)}, {20 * (k / 2) + 20, 20 * (k % 2) + 20}});
  }
  Doubles const sines = test::combined<double>(
      m.shape, [](double x) { return detail::value_of<detail::Function::sin>(x); }, m);
  CHECK_ALL(holds(DistArray(sin(by_rows)), sines));
  CHECK_ALL(holds(DistArray(sin(by_blocks)), sines));
}

TEST_CASE("a listed order of devices owns tiles in that order") {
  Mesh const mesh({4, 6, 0, 2, 7, 3, 1, 5}, {4, 2}, {"data", "model"});
  auto const u = from_index<std::int64_t>({4, 4}, {mesh, P("data", "model")},
                                          [](auto const& i) { return 1 + i[0] + 4 * i[1]; });

  CHECK(box_on(u, 7) == Box{{2, 0}, {3, 2}});
  CHECK(box_on(u, 5) == Box{{3, 2}, {4, 4}});
  CHECK(box_on(u, 4) == Box{{0, 0}, {1, 2}});
  CHECK(shards_hold(u, [](Index const& i) { return 1 + i[0] + 4 * i[1]; }));
}

TEST_CASE("a statement writes where its target lives, whatever it reads") {
  Mesh const mesh({{"data", 2}, {"model", 4}});
  auto const u = iota<double>({4, 4}, {mesh, P("data", "model")});
  NamedSharding const by_rows(mesh, P("model", none));

  DistArray<double, 2> const sum_there(u + u, by_rows);

  CHECK(sum_there.sharding() == by_rows);
  CHECK(shards_hold(sum_there,
                    [](Index const& i) { return 2.0 * static_cast<double>(4 * i[0] + i[1]); }));
}

TEST_CASE("an array on one device stays there") {
  Mesh const mesh({{"y", 2}, {"x", 4}});
  auto x = iota<double>({32, 32}, {mesh, P("y", "x")});
  auto z = zeros<double>({32, 32}, {Mesh({{"one", 1}}), P(none, none)});
  DistArray<double, 2> y = x + transpose(x);
  x += y;
  z(tessera::all, tessera::all) = x;

  CHECK(z.sharding().mesh().size() == 1);
  CHECK_ALL(holds(z, Doubles::made_of({32, 32}, [](Index const& i) {
                    return 2.0 * static_cast<double>(32 * i[0] + i[1]) +
                           static_cast<double>(32 * i[1] + i[0]);
                  })));
}

TEST_CASE("rotating, padding and writing slices move cells between neighbours only") {
  auto const m = tall(1024, 12);
  auto const x = spread_out<double, 2>(m, blocks());
  CommunicationBudget const budget({.messages = 8, .bytes = 8 * 4096, .gathers = 0});

  // Device rows 512 apart: 100 rows of 3 columns cross each of two borders, on four device columns.
  auto rotated = zeros<double>({1024, 12}, blocks());
  auto const sent = sent_by([&] { rotated = roll(x, -100, 0); });
  CHECK(sent.messages == 8);
  CHECK(sent.bytes == 2 * 100 * 12 * 8);
  CHECK_ALL(holds(rotated, Doubles::made_of({1024, 12}, [&](Index const& i) {
                    return m.at({(i[0] + 100) % 1024, i[1]});
                  })));

  auto u = x;
  auto const y = spread_out<double, 2>(tall(1004, 12), blocks());
  u(range(5, 1009), tessera::all) = y;
  auto v = x;
  auto const z = spread_out<double, 2>(tall(1004, 10), blocks());
  v(range(5, 1009), range(1, 11)) = z;

  auto expected_u = m;
  expected_u.assign({{5, 1, 1004}, {0, 1, 12}}, tall(1004, 12));
  auto expected_v = m;
  expected_v.assign({{5, 1, 1004}, {1, 1, 10}}, tall(1004, 10));
  CHECK_ALL(holds(u, expected_u));
  CHECK_ALL(holds(v, expected_v));
}

TEST_CASE("padding moves the rows whose owner changes") {
  auto const m = tall(1024, 12);
  auto const x = spread_out<double, 2>(m, blocks());
  auto padded = zeros<double>({1044, 12}, blocks());
  auto const sent = sent_by([&] { padded = pad(x, {5, 0}, {15, 0}, constant(0.0)); });

  // Of 1044 rows the first half are 522, which hold rows 0 to 516 of x: 5 rows change hands.
  CHECK(sent.messages == 4);
  CHECK(sent.bytes == 5 * 12 * 8);
  CHECK_ALL(holds(padded, Doubles::made_of({1044, 12}, [&](Index const& i) {
                    return i[0] < 5 || i[0] >= 1029 ? 0.0 : m.at({i[0] - 5, i[1]});
                  })));
}

TEST_CASE("five rotations added are one message to each side") {
  auto const m = tall(1024, 12);
  auto const x = spread_out<double, 2>(m, blocks());
  auto y = zeros<double>({1024, 12}, blocks());

  auto const sent =
      sent_by([&] { y = roll(x, -2, 0) + roll(x, -1, 0) + x + roll(x, 1, 0) + roll(x, 2, 0); });

  // Both neighbours of a device are the same one here: all its rows go there together.
  CHECK(sent.messages == 8);
  CHECK(sent.bytes == 2 * 2 * 2 * 12 * 8);
  CHECK_ALL(holds(y, Doubles::made_of({1024, 12}, [&](Index const& i) {
                    auto const at = [&](std::int64_t by) {
                      return m.at({floor_mod(i[0] + by, 1024), i[1]});
                    };
                    return at(2) + at(1) + at(0) + at(-1) + at(-2);
                  })));
}

TEST_CASE("a shift of an unchanged array that was shifted before sends nothing") {
  auto const x = spread_out<double, 2>(tall(64, 12), blocks());
  auto y = zeros<double>({64, 12}, blocks());
  y = shift(x, {1, 0}, edge);

  CHECK(sent_by([&] { y = 2.0 * shift(x, {1, 0}, edge); }).messages == 0);
  // Room for ghost cells on the other side is made anew; what was there is sent again, once.
  CHECK(sent_by([&] { y = shift(x, {-1, 0}, edge); }).messages == 4);
  CHECK(sent_by([&] { y = shift(x, {1, 0}, edge); }).messages == 4);
  CHECK(sent_by([&] { y = shift(x, {1, 0}, edge) - shift(x, {-1, 0}, edge); }).messages == 0);
}

TEST_CASE("heat spreads by hand-made amounts") {
  for (std::int64_t const devices : {1, 2, 4, 8}) {
    CAPTURE(devices);
    auto u = from_index<double>({8}, test::over(devices),
                                [](auto const& i) { return i[0] == 4 ? 1.0 : 0.0; });
    auto const step = [&] {
      u(range(1, -1)) = 0.5 * u(range(1, -1)) + 0.25 * u(range(0, -2)) + 0.25 * u(from(2));
    };
    step();
    CHECK_ALL(holds(u, Numbers{0, 0, 0, 0.25, 0.5, 0.25, 0, 0}));
    step();
    CHECK_ALL(holds(u, Numbers{0, 0, 0.0625, 0.25, 0.375, 0.25, 0.0625, 0}));
  }
}

TEST_CASE("rows are normalised where they lie whole, and by small parts where they are cut") {
  Numbers const data{1, 2, 3, 4, 2, 2, 4, 8};
  auto const normalised = [&](NamedSharding const& sharding) {
    auto const x = from_host<double, 2>(std::span<double const>(data), {2, 4}, sharding);
    auto const centred = x - mean(x, axis(1).keep_dimensions());
    return DistArray<double, 2>(centred / sqrt(var(x, axis(1).keep_dimensions())), sharding);
  };
  Mesh const mesh({{"x", 2}});
  NamedSharding const rows(mesh, P("x", none));
  NamedSharding const columns(mesh, P(none, "x"));
  auto whole_rows = zeros<double>({2, 4}, rows);
  auto cut_rows = zeros<double>({2, 4}, columns);
  auto const sent = sent_by([&] { whole_rows = normalised(rows); });
  auto const sent_cut = sent_by([&] { cut_rows = normalised(columns); });

  CHECK(sent.messages == 0);
  CHECK(sent_cut.messages > 0);
  CHECK(sent_cut.bytes < 4096);
  Numbers const wanted{-1.341641, -0.447214, 0.447214, 1.341641, -0.816497, -0.816497, 0, 1.632993};
  auto const cells = whole_rows.to_host();
  for (std::size_t k = 0; k < wanted.size(); ++k)
    CHECK(cells[k] == doctest::Approx(wanted[k]).epsilon(1e-6));
  CHECK_ALL(test::same_bits(cells, cut_rows.to_host()));
}

TEST_CASE("operands repeated along different mesh axes meet without a message") {
  // Rows of the first on devices {0, 1} and {2, 3}, columns of the second on {0, 2} and {1, 3}.
  auto const tens = from_host<double, 2>(std::span<double const>(Numbers{10, 20}), {2, 1},
                                         {square(), P("y", none)});
  auto const ones = from_host<double, 2>(std::span<double const>(Numbers{1, 2}), {1, 2},
                                         {square(), P(none, "x")});
  auto sums = zeros<double>({2, 2}, {square(), P("y", "x")});

  CHECK(sent_by([&] { sums = tens + ones; }).messages == 0);

  CHECK_ALL(holds(sums, Numbers{11, 12, 21, 22}));
  for (std::int64_t k = 0; k < 4; ++k)
    CHECK(box_on(sums, k) == Box{{k / 2, k % 2}, {k / 2 + 1, k % 2 + 1}});
}

TEST_CASE("rows are summed along every axis, cut or not") {
  Mesh const mesh({{"x", 4}});
  auto const m = tall(8, 4);
  auto const along = [&](Doubles const& of, std::size_t axis) {
    Numbers sums(static_cast<std::size_t>(of.shape[1 - axis]), 0);
    test::for_each_cell(whole(of.shape), [&](Index const& i) {
      sums[static_cast<std::size_t>(i[1 - axis])] += of.at(i);
    });
    return sums;
  };
  for (auto const& spec : {P(none, none), P("x", none), P(none, "x")}) {
    CAPTURE(spec);
    auto const u = spread_out<double, 2>(m, {mesh, spec});
    for (std::size_t d = 0; d < 2; ++d) {
      auto const cells = sum(u, axis(d)).to_host();
      auto const wanted = along(m, d);
      for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(cells[k] == doctest::Approx(wanted[k]));
    }
  }
}

TEST_SUITE_END();
