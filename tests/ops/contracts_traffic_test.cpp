#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/ops/products.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"
#include "tessera/runtime/budget.hpp"

#include "support/agree.hpp"
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

/// What small programs send, in messages and bytes: what devices lack, and nothing else.
TEST_SUITE_BEGIN("ops/contracts_traffic");

namespace {

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
using Array = DistArray<std::int64_t, 2>;

constexpr std::int64_t word = 8;

//  1 2 3 4
//  5 6 7 8
Array eight(NamedSharding const& sharding) {
  return from_index<std::int64_t>({2, 4}, sharding,
                                  [](auto const& i) { return 4 * i[0] + i[1] + 1; });
}

// True if the cells are 0, 1, 2, … in row-major order.
template <std::size_t N>
bool counts_up(DistArray<std::int64_t, N> const& u) {
  Integers cells(static_cast<std::size_t>(u.size()));
  std::iota(cells.begin(), cells.end(), 0);
  return holds(u, cells);
}

}  // namespace

TEST_CASE("a three-point step sends one cell to each neighbour, on any number of devices") {
  auto const inner = range(1, -1);
  for (auto const p : device_counts()) {
    CAPTURE(p);
    auto u = iota<double>({50}, over(p));
    CommunicationBudget const budget({.messages = 2, .bytes = 2 * word, .gathers = 0});

    auto const sent =
        sent_by([&] { u(inner) = 0.8 * u(inner) + 0.1 * u(range(0, -2)) + 0.1 * u(from(2)); });

    CHECK(sent.messages == 2 * (p - 1));
    CHECK(sent.bytes == 2 * (p - 1) * word);
    CHECK(budget.used().gathers == 0);
  }
}

TEST_CASE("copies become shards without a byte, and a copied array is read without one") {
  for (auto const p : device_counts()) {
    CAPTURE(p);
    auto const copies = iota<std::int64_t>({7, 9}, {row(p), P(none, none)});
    auto v = zeros<std::int64_t>({7, 9}, {row(p), P("x", none)});
    auto w = zeros<std::int64_t>({9, 7}, {row(p), P("x", none)});

    auto const sent = sent_by([&] {
      (void)reshard(copies, over(p, 1));
      v = reshard(copies, v.sharding());
      w = transpose(copies) + 1;
      v(from(1), tessera::all) = copies(range(0, -1), tessera::all);
    });

    CHECK(sent.bytes == 0);
    CHECK(sent.messages == 0);
  }
}

TEST_CASE("shards become copies by one message to every other device, along any dimension") {
  for (auto const p : device_counts())
    for (auto const& spec : {P("x", none, none), P(none, "x", none), P(none, none, "x")}) {
      CAPTURE(p);
      CAPTURE(spec);
      auto const u = iota<std::int64_t>({8, 8, 8}, {row(p), spec});
      auto copies = zeros<std::int64_t>({8, 8, 8}, {row(p), P(none, none, none)});

      auto const sent = sent_by([&] { copies = reshard(u, copies.sharding()); });

      CHECK(sent.messages == p * (p - 1));
      CHECK(sent.bytes == (p - 1) * 512 * word);
      CHECK_ALL(counts_up(copies));
    }
}

// A square of n² doubles in tiles that are dealt out over a mesh, times itself.
Counters product_of_tiles(std::int64_t n, Mesh const& mesh, std::int64_t tile) {
  auto const number = [n](auto const& i) { return 1.0 / static_cast<double>(i[0] * n + i[1] + 1); };
  NamedSharding const even(mesh, P("x", "y"));
  NamedSharding const dealt_out(mesh, P("x", "y"), Cut::cyclic(tile));
  auto const a = from_index<double>({n, n}, dealt_out, number);
  auto const b = from_index<double>({n, n}, even, number);
  auto c = zeros<double>({n, n}, dealt_out);
  auto const sent = sent_by([&] { matmul_into(c, a, a); });
  CHECK_ALL(all_equal(c, matmul(b, b)));
  return sent;
}

TEST_CASE("a product of tiles that are dealt out sends what devices lack") {
  if (!has_devices(4)) return;
  // In place: a device lacks half of its rows, and half of its columns.
  Mesh const four({{"x", 2}, {"y", 2}});
  CHECK(product_of_tiles(64, four, 4).bytes == 4 * 2 * 32 * 32 * word);
  // Of tiles of one cell there are too many for that. The work is cut evenly, and a device lacks
  // three quarters of its rows and columns, 3 · 32² cells together, and then of its 32² results.
  CHECK(product_of_tiles(64, four, 1).bytes == 4 * 3 * 32 * 32 * word);
  if (!has_devices(8)) return;
  Mesh const eight_devices({{"x", 2}, {"y", 4}});
  // In place: three quarters of 32 rows and half of 16 columns, less what is in both.
  CHECK(product_of_tiles(64, eight_devices, 4).bytes == 8 * (1536 + 512) * word);
  // Seven eighths of these rows and columns together, and of the results.
  CHECK(product_of_tiles(64, eight_devices, 1).bytes <= 32768 * word);
}

TEST_CASE("operands that lie crosswise are refused by a budget without gathers, or gathered once") {
  if (!has_devices(4)) return;
  auto const mesh = row(4);
  auto const rows = iota<double>({32, 1024}, {mesh, P("x", none)});
  auto const columns = iota<double>({32, 1024}, {mesh, P(none, "x")});
  auto sums = zeros<double>({32, 1024}, rows.sharding());
  {
    CommunicationBudget const budget({.gathers = 0});
    CHECK_ALL_THROW((void)(sums = rows + columns), BudgetExceeded);
    CHECK(budget.used() == CommunicationUse{});
  }

  auto const sent = sent_by([&] { sums = rows + columns; });

  // A device lacks three quarters of its rows of the other operand.
  CHECK(sent.messages == 4 * 3);
  CHECK(sent.bytes == 3 * 8 * 1024 * word);
  CHECK_ALL(holds(sums, DistArray<double, 2>(2.0 * rows).to_host()));
}

TEST_CASE("a slice is cut as its array is, and only cells that change hands are sent") {
  if (!has_devices(2)) return;
  auto const rows = eight({row(2), P("x", none)});
  auto const columns = eight({row(2), P(none, "x")});
  auto of_rows = zeros<std::int64_t>({2, 2}, rows.sharding());
  auto of_columns = zeros<std::int64_t>({2, 2}, columns.sharding());

  auto const whole_rows = sent_by([&] { of_rows = Array(rows(tessera::all, range(0, 2))); });
  auto const cut_rows = sent_by([&] { of_columns = Array(columns(tessera::all, range(0, 2))); });

  CHECK(whole_rows.messages == 0);
  CHECK(of_rows.sharding() == rows.sharding());
  CHECK_ALL(device_holds(of_rows, 0, {1, 2}));
  CHECK_ALL(device_holds(of_rows, 1, {5, 6}));
  // Device 0 held both columns that are left.
  CHECK(cut_rows.messages == 1);
  CHECK(cut_rows.bytes == 2 * word);
  CHECK(of_columns.sharding() == columns.sharding());
  CHECK_ALL(device_holds(of_columns, 0, {1, 5}));
  CHECK_ALL(device_holds(of_columns, 1, {2, 6}));
}

TEST_CASE("dimensions are fused and split where they lie") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  auto const rows = iota<std::int64_t>({2, 3}, {mesh, P("x", none)});
  auto const middle = iota<std::int64_t>({2, 4, 5}, {mesh, P(none, "x", none)});
  auto flat = zeros<std::int64_t>({1}, over(1));
  auto wide = zeros<std::int64_t>({1, 1}, over(1, 1));
  auto back = middle;

  auto const sent = sent_by([&] {
    flat = DistArray(reshape(rows, {6}));
    wide = DistArray(reshape(middle, {2, 20}));
    back = DistArray(reshape(wide, {2, 4, 5}));
  });

  CHECK(sent.messages == 0);
  CHECK_ALL(device_holds(flat, 0, {0, 1, 2}));
  CHECK_ALL(device_holds(flat, 1, {3, 4, 5}));
  CHECK(wide.sharding() == NamedSharding(mesh, P(none, "x")));
  CHECK_ALL(device_holds(wide, 1, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19,  //
                                   30, 31, 32, 33, 34, 35, 36, 37, 38, 39}));
  CHECK(back.sharding() == middle.sharding());
  CHECK_ALL(counts_up(flat) && counts_up(wide));
  CHECK_ALL(counts_up(back));
}

TEST_CASE("hidden states go to heads and back without a message") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  auto const hidden = iota<std::int64_t>({3, 7, 4096}, {mesh, P(none, none, "x")});
  auto tokens = zeros<std::int64_t>({1, 1}, over(1, 1));
  auto heads = zeros<std::int64_t>({1, 1, 1, 1}, {row(1), P(none, none, none, none)});
  auto back = hidden;
  auto direct = heads;

  auto const sent = sent_by([&] {
    tokens = DistArray(reshape(hidden, {21, 4096}));
    heads = DistArray(reshape(tokens, {3, 7, 64, 64}));
    direct = DistArray(reshape(hidden, {3, 7, 64, 64}));
    back = DistArray(reshape(heads, {3, 7, 4096}));
  });

  CHECK(sent.messages == 0);
  CHECK(tokens.sharding() == NamedSharding(mesh, P(none, "x")));
  CHECK(heads.sharding() == NamedSharding(mesh, P(none, none, "x", none)));
  CHECK(heads.layout()->box_of(DeviceId{1}) == Box{{0, 0, 32, 0}, {3, 7, 64, 64}});
  CHECK(direct.sharding() == heads.sharding());
  CHECK_ALL(counts_up(tokens) && counts_up(heads));
  CHECK_ALL(counts_up(direct) && counts_up(back));
}

TEST_CASE("rows that are dealt out, added to and collected travel once") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  NamedSharding const rows(mesh, P("x", none));
  NamedSharding const copies(mesh, P(none, none));
  auto const square = from_host<double>(Numbers{1, 2, 3, 4}, {2, 2}, copies);
  auto const more = from_host<double>(Numbers{10, 20}, {1, 2}, copies);
  auto cut = zeros<double>({2, 2}, rows);
  auto all_of_it = zeros<double>({2, 2}, copies);

  CHECK(sent_by([&] { cut = reshard(square, rows); }).messages == 0);
  CHECK(sent_by([&] { cut = cut + more; }).messages == 0);
  auto const collected = sent_by([&] { all_of_it = reshard(cut, copies); });

  CHECK(collected.messages == 2);
  CHECK(collected.bytes == 2 * 2 * word);
  for (std::int64_t const k : {0, 1}) CHECK_ALL(device_holds(all_of_it, k, {11, 22, 13, 24}));
}

TEST_CASE("along a mesh axis of one device nothing is ever sent") {
  for (auto const p : device_counts()) {
    CAPTURE(p);
    Mesh const mesh({{"one", 1}, {"x", p}});
    auto const u = iota<double>({6, 8}, {mesh, P("one", "x")});
    auto v = zeros<double>({6, 8}, u.sharding());
    auto total = zeros<double>({8}, {mesh, P("x")});
    auto moved = u;

    auto const sent = sent_by([&] {
      v = roll(u, 2, 0) + roll(u, -1, 0) + flip(u, 0);
      total = sum(u, axis(0));
      moved = reshard(u, {mesh, P(none, {"one", "x"})});
      (void)reshape(moved, {2, 3, 8});
    });

    CHECK(sent.messages == 0);
    CHECK_ALL(holds(total, Numbers{120, 126, 132, 138, 144, 150, 156, 162}));
    CHECK_ALL(holds(moved, u.to_host()));
    // Rows 4 + 1 + 5, 5 + 2 + 4, 0 + 3 + 3, … of eight cells each, and the column three times.
    Numbers wanted;
    for (int const rows : {10, 11, 6, 7, 8, 3})
      for (int column = 0; column < 8; ++column)
        wanted.push_back(static_cast<double>(8 * rows + 3 * column));
    CHECK_ALL(holds(v, wanted));
  }
}

TEST_CASE("one device alone sends nothing, whatever it does") {
  auto u = iota<double>({5, 4}, over(1, 1));
  auto const sent = sent_by([&] {
    u = roll(u, 3, 0) + flip(u);
    u(from(1), tessera::all) = u(range(0, -1), tessera::all) - sum(u, axis(0).keep_dimensions());
    u = reshard(u, {row(1), P(none, none)});
    (void)concatenate(0, u, reshape(reshape(u, {20}), {5, 4}));
    (void)DistArray<double, 2>(transpose(u) * 2);
  });
  CHECK(sent.messages == 0);
  CHECK(sent.bytes == 0);
}

TEST_SUITE_END();
