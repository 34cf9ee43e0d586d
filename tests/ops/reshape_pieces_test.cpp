#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/ops/shape.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"
#include "support/seeds.hpp"
#include "support/shards.hpp"

#include "contracts.hpp"

using namespace tessera;
using test::device_holds;
using test::has_devices;
using test::holds;
using test::row;
using test::sent_by;

/// Arrays of another shape whose devices hold several boxes: what moves, which is nothing where
/// rows are whole.
TEST_SUITE_BEGIN("ops/reshape_pieces");

namespace {

using Integers = std::vector<std::int64_t>;
template <std::size_t N>
using Array = DistArray<std::int64_t, N>;

constexpr std::int64_t word = 8;

// True if the cells are 0, 1, 2, … in row-major order.
template <std::size_t N>
bool counts_up(Array<N> const& u) {
  Integers cells(static_cast<std::size_t>(u.size()));
  std::iota(cells.begin(), cells.end(), 0);
  return holds(u, cells);
}

// The array that counts up in another shape, which has to be made without a message and to lie as
// `wanted` says.
template <std::size_t M, std::size_t N>
Array<M> in_place(Array<N> const& u, std::int64_t const (&shape)[M], NamedSharding const& wanted) {
  std::optional<Array<M>> result;
  auto const sent = sent_by([&] { result = DistArray(reshape(u, shape)); });
  CHECK(sent.messages == 0);
  CHECK(sent.bytes == 0);
  CHECK(result->sharding() == wanted);
  CHECK_ALL(counts_up(*result));
  return std::move(*result);
}

}  // namespace

TEST_CASE("rows that are dealt out are fused and split where they lie") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  NamedSharding const rows(mesh, P("x", none), Cut::cyclic(1));
  NamedSharding const cells(mesh, P("x"), Cut::cyclic(3));
  // 0 1 2 | 3 4 5 | 6 7 8 | 9 10 11 | 12 13 14 to devices 0 1 0 1 0
  auto const u = iota<std::int64_t>({5, 3}, rows);

  auto const flat = in_place(u, {15}, cells);
  auto const back = in_place(flat, {5, 3}, rows);

  CHECK_ALL(device_holds(flat, 0, {0, 1, 2, 6, 7, 8, 12, 13, 14}));
  CHECK_ALL(device_holds(flat, 1, {3, 4, 5, 9, 10, 11}));
  CHECK_ALL(device_holds(back, 1, {3, 4, 5, 9, 10, 11}));
}

TEST_CASE("blocks of rows, short ones and devices without any keep their places") {
  if (!has_devices(8)) return;
  for (std::int64_t const devices : {1, 2, 3, 8})
    for (std::int64_t const rows : {2, 7, 20})
      for (std::int64_t const block : {1, 2, 3, 30}) {
        CAPTURE(devices);
        CAPTURE(rows);
        CAPTURE(block);
        auto const mesh = row(devices);
        NamedSharding const dealt(mesh, P("x", none), Cut::cyclic(block));
        auto const u = iota<std::int64_t>({rows, 4}, dealt);
        auto const in_one = std::min(block, rows);

        auto const flat = in_place(u, {4 * rows}, {mesh, P("x"), Cut::cyclic(4 * in_one)});
        auto const back = in_place(flat, {rows, 4}, {mesh, P("x", none), Cut::cyclic(in_one)});
        auto const wide =
            in_place(back, {rows, 2, 1, 2}, {mesh, P("x", none, none, none), Cut::cyclic(in_one)});

        CHECK_ALL(counts_up(wide));
      }
}

TEST_CASE("segments of whole rows are fused and split where they lie") {
  if (!has_devices(3)) return;
  auto const mesh = row(3);
  // Rows 0 1 2 3 to devices 0 0 1 2, rows 4 5 6 to 0 0 1, and row 7 to device 2.
  auto const rules = [](std::int64_t row_cells) {
    return Cut::segments({{4 * row_cells, row_cells == 1 ? Cut::balanced() : Cut::unit(row_cells)},
                          {3 * row_cells, Cut::unit(2 * row_cells)},
                          {1 * row_cells, Cut::explicit_sizes({0, 0, row_cells})}});
  };
  auto const u = iota<std::int64_t>({8, 5}, NamedSharding(mesh, P("x", none), rules(1)));

  auto const flat = in_place(u, {40}, {mesh, P("x"), rules(5)});
  (void)in_place(flat, {8, 5}, {mesh, P("x", none), rules(1)});

  CHECK_ALL(device_holds(flat, 0,
                         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}));
  CHECK_ALL(device_holds(flat, 1, {10, 11, 12, 13, 14, 30, 31, 32, 33, 34}));
  CHECK_ALL(device_holds(flat, 2, {15, 16, 17, 18, 19, 35, 36, 37, 38, 39}));
}

TEST_CASE("other rules in whole rows are split where they lie") {
  if (!has_devices(4)) return;
  auto const mesh = row(4);
  auto const split = [&](Cut const& of_cells, Cut const& of_rows) {
    CAPTURE(of_cells);
    auto const u = iota<std::int64_t>({24}, NamedSharding(mesh, P("x"), of_cells));
    (void)in_place(u, {6, 4}, {mesh, P("x", none), of_rows});
    (void)in_place(u, {1, 6, 1, 4, 1}, {mesh, P(none, "x", none, none, none), of_rows});
  };
  split(Cut::unit(8), Cut::unit(2));     // 8 8 8 0
  split(Cut::unit(4), Cut::balanced());  // 8 8 4 4
  split(Cut::unit(24), Cut::unit(6));    // 24 0 0 0
  split(Cut::explicit_sizes({4, 0, 16, 4}), Cut::explicit_sizes({1, 0, 4, 1}));
  split(Cut::cyclic(4), Cut::cyclic(1));
  split(Cut::cyclic(100), Cut::cyclic(6));
  auto const u = iota<std::int64_t>({32}, NamedSharding(mesh, P("x"), Cut::ceil()));
  (void)in_place(u, {8, 4}, {mesh, P("x", none), Cut::ceil()});
}

TEST_CASE("groups of dimensions keep their own rules") {
  if (!has_devices(8)) return;
  Mesh const grid({{"a", 2}, {"b", 4}});
  auto const cut_by = [&](std::vector<SpecEntry> const& spec, std::vector<Cut> const& cuts) {
    return NamedSharding(grid, PartitionSpec(spec), cuts);
  };
  auto const plain = Cut::balanced();
  auto const u = iota<std::int64_t>(
      {5, 3, 6, 4}, cut_by({"a", none, "b", none}, {Cut::cyclic(2), plain, Cut::cyclic(1), plain}));
  auto const half_plain = iota<std::int64_t>(
      {5, 3, 6, 4}, cut_by({"a", none, "b", none}, {Cut::cyclic(2), plain, plain, plain}));
  auto const stacked = Cut::segments({2, 4});

  auto const flat = in_place(u, {15, 24}, cut_by({"a", "b"}, {Cut::cyclic(6), Cut::cyclic(4)}));
  (void)in_place(flat, {5, 3, 6, 4},
                 cut_by({"a", none, "b", none}, {Cut::cyclic(2), plain, Cut::cyclic(1), plain}));
  (void)in_place(flat, {5, 1, 3, 24},
                 cut_by({"a", none, none, "b"}, {Cut::cyclic(2), plain, plain, Cut::cyclic(4)}));
  (void)in_place(half_plain, {15, 24}, cut_by({"a", "b"}, {Cut::cyclic(6), Cut::unit(4)}));
  (void)in_place(
      iota<std::int64_t>({6, 3, 5}, cut_by({"b", none, "a"}, {stacked, plain, Cut::cyclic(2)})),
      {18, 5}, cut_by({"b", "a"}, {Cut::segments({{6, Cut::unit(3)}, 12}), Cut::cyclic(2)}));
}

TEST_CASE("a dimension of one cell that is cut leaves all its cells on one device") {
  if (!has_devices(3)) return;
  auto const mesh = row(3);
  for (auto const& cut : {Cut::balanced(), Cut::cyclic(1), Cut::cyclic(7)}) {
    CAPTURE(cut);
    auto const u = iota<std::int64_t>({1, 1, 4}, NamedSharding(mesh, P(none, "x", none), cut));
    auto const of_cells = cut.may_repeat() ? Cut::cyclic(4) : Cut::unit(4);

    auto const flat = in_place(u, {4}, {mesh, P("x"), of_cells});
    (void)in_place(flat, {1, 4}, {mesh, P(none, "x"), of_cells});
    (void)in_place(flat, {2, 2},
                   {mesh, P("x", none), cut.may_repeat() ? Cut::cyclic(2) : Cut::unit(2)});

    CHECK_ALL(device_holds(flat, 0, {0, 1, 2, 3}));
  }
}

TEST_CASE("axes of one device and copies change nothing") {
  if (!has_devices(6)) return;
  Mesh const mesh({{"one", 1}, {"x", 3}, {"copies", 2}});
  auto const u = iota<std::int64_t>(
      {7, 4}, NamedSharding(mesh, P("x", "one"), {Cut::cyclic(2), Cut::balanced()}));

  auto const flat = in_place(u, {28}, {mesh, P({"x", "one"}), Cut::cyclic(8)});

  CHECK_ALL(device_holds(flat, 2, {8, 9, 10, 11, 12, 13, 14, 15}));
  CHECK_ALL(device_holds(flat, 3, {8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST_CASE("what is fused and split at once stays where both have whole rows") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  auto const u = iota<std::int64_t>({6, 4}, NamedSharding(mesh, P("x", none), Cut::cyclic(3)));

  (void)in_place(u, {8, 3}, {mesh, P("x", none), Cut::cyclic(4)});
}

TEST_CASE("where rows are cut, the missing cells travel") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  auto const line = iota<std::int64_t>({8}, NamedSharding(mesh, P("x"), Cut::cyclic(2)));
  auto const columns =
      iota<std::int64_t>({2, 4}, NamedSharding(mesh, P(none, "x"), Cut::cyclic(1)));
  auto rows = iota<std::int64_t>({1, 1}, NamedSharding(mesh, P(none, none)));
  auto flat = iota<std::int64_t>({1}, NamedSharding(mesh, P(none)));

  // 0 0 1 1 | 0 0 1 1 to 0 0 0 0 | 1 1 1 1, and 0 1 0 1 | 0 1 0 1 to the same.
  auto const of_line = sent_by([&] { rows = DistArray(reshape(line, {2, 4})); });
  auto const of_columns = sent_by([&] { flat = DistArray(reshape(columns, {8})); });

  CHECK(of_line.messages == 2);
  CHECK(of_line.bytes == 2 * 2 * word);
  CHECK(of_columns.messages == 2);
  CHECK(of_columns.bytes == 2 * 2 * word);
  CHECK(rows.sharding() == NamedSharding(mesh, P("x", none)));
  CHECK(flat.sharding() == NamedSharding(mesh, P("x")));
  CHECK_ALL(counts_up(rows));
  CHECK_ALL(counts_up(flat));
}

TEST_CASE("random arrays of several boxes are fused without a message, and split again") {
  test::Random random(test::seed_of_all(29));
  auto const mesh_of = [&] { return test::random_mesh(random, device_count()); };
  for (int round = 0; round < 60; ++round) {
    auto const mesh = mesh_of();
    auto const a = random.between(1, 9);
    auto const b = random.between(1, 3);
    auto const c = random.between(1, 9);
    auto const d = random.between(1, 3);
    auto const lead = test::random_sharding_on(random, mesh, {a, c});
    CAPTURE(lead);
    CAPTURE(Shape({a, b, c, d}));
    // The dimensions of a group but the first are whole, and the first has cells to cut.
    if (a == 1 || c == 1) continue;
    NamedSharding const sharding(mesh, PartitionSpec({lead.spec()[0], none, lead.spec()[1], none}),
                                 {lead.cut(0), Cut::balanced(), lead.cut(1), Cut::balanced()});
    auto const u = iota<std::int64_t>({a, b, c, d}, sharding);
    auto fused = iota<std::int64_t>({1, 1}, NamedSharding(mesh, P(none, none)));
    auto back = u;

    auto const sent = sent_by([&] {
      fused = DistArray(reshape(u, {a * b, c * d}));
      back = reshape(fused, {a, 1, b, c, d})(tessera::all, 0, tessera::all, tessera::all,
                                             tessera::all);
    });

    CHECK(sent.messages == 0);
    CHECK_ALL(counts_up(fused));
    CHECK_ALL(counts_up(back));
  }
}

TEST_CASE("the cells of an open epoch are not reshaped, also where nothing has to move" *
          test::host_only()) {
  auto u = iota<double>({12}, test::over(4));
  fence(u);
  auto const again = [&] { (void)reshape(u, {3, 4}); };
  CHECK_ALL_THROW(again(), UsageError);
  fence(u);
  auto const same = reshape(u, {12});
  CHECK_ALL(holds(same, u.to_host()));
}

TEST_SUITE_END();
