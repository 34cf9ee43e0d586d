#include "src/plan/exchange/temporaries.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/ghost.hpp"

#include "cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::make_layout;
using test::read_from_temporary;
using test::read_in_place;
using test::shifted_by;
using test::work_on;

TEST_SUITE_BEGIN("plan/temporaries");

namespace {

constexpr auto periodic = BoundaryKind::periodic;

// Operands that are read in place where ghost cells allow it, as statements choose.
OperandUse use_of(test::SharedLayout const& layout, Access const& access,
                  ComputePlacement const& place) {
  return ghost_widths_for(*layout, access, place) ? read_in_place(layout, access)
                                                  : read_from_temporary(layout, access);
}

struct Total {
  std::int64_t received = 0;
  std::int64_t places = 0;  // of all temporaries
};

Total total_of(std::vector<OperandUse> const& operands, ComputePlacement const& place,
               std::int64_t devices) {
  Total total;
  for (std::int64_t device = 0; device < devices; ++device) {
    auto const plan = plan_exchange(operands, place, DeviceId{device});
    for (auto const& transfer : plan.receives) total.received += transfer.cells.count();
    for (auto const& temporary : plan.temporaries.list) total.places += temporary.places.cells();
  }
  return total;
}

std::vector<OperandUse> periodic_cross(test::SharedLayout const& layout,
                                       ComputePlacement const& place) {
  std::vector<OperandUse> operands;
  for (auto const& offsets : std::vector<Index>{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}})
    operands.push_back(use_of(layout, shifted_by(offsets, layout->shape(), periodic), place));
  return operands;
}

// Cell (i, j) of the array, plus cell j of its first row.
std::vector<OperandUse> with_first_row(test::SharedLayout const& layout,
                                       ComputePlacement const& place) {
  auto const first_row = Access::plain({2, {{AxisMap::fixed, 0, 1}, {1, 0, 1}}});
  return {use_of(layout, shifted_by({0, 0}), place), use_of(layout, first_row, place)};
}

Mesh tiles(std::int64_t rows, std::int64_t columns) {
  return Mesh({{"x", rows}, {"y", columns}});
}

}  // namespace

TEST_CASE("a stencil of tiles into columns sends what the columns lack, each cell once") {
  struct Case {
    std::int64_t rows, columns, lacked;
  };
  for (auto const& [rows, columns, lacked] :
       {Case{2, 1, 2176}, Case{2, 2, 3456}, Case{5, 1, 3788}}) {
    CAPTURE(lacked);
    auto const devices = rows * columns;
    auto const u = make_layout(tiles(rows, columns), P("x", "y"), {64, 64});
    auto const place = work_on(make_layout(Mesh({{"x", devices}}), P(none, "x"), {64, 64}));

    auto const total = total_of(periodic_cross(u, place), place, devices);

    CHECK(total.received == lacked);
    // Columns of 66 places, two more than a device computes.
    CHECK(total.places == 66 * (64 + 2 * devices));
  }
}

TEST_CASE("what every work box reads comes once to a device of many boxes") {
  struct Case {
    std::int64_t rows, columns;
    Cut cut;
    std::int64_t lacked;
  };
  for (auto const& [rows, columns, cut, lacked] :
       {Case{2, 1, Cut::cyclic(4), 64}, Case{2, 2, Cut::cyclic(4), 64},
        Case{2, 1, Cut::segments({32, 32}), 64}, Case{5, 1, Cut::segments({32, 32}), 256}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    auto const a = make_layout(tiles(rows, columns), P("x", "y"), {64, 64}, cut);
    auto const place = work_on(a);

    auto const total = total_of(with_first_row(a, place), place, rows * columns);

    CHECK(total.received == lacked);
    CHECK(total.places <= 2 * lacked);
  }
}

TEST_CASE("a row and a column that cross have a temporary each, and their common cell comes once") {
  auto const u = make_layout(Mesh({0}, {1}, {"x"}), P(none, none), {2000, 2000});
  auto const place = work_on(make_layout(Mesh({1}, {1}, {"x"}), P(none), {2000}));
  std::vector<OperandUse> const operands{
      read_from_temporary(u, Access::plain({1, {{AxisMap::fixed, 0, 1}, {0, 0, 1}}})),
      read_from_temporary(u, Access::plain({1, {{0, 0, 1}, {AxisMap::fixed, 0, 1}}}))};

  auto const plan = plan_exchange(operands, place, DeviceId{1});

  REQUIRE(plan.temporaries.list.size() == 2);
  CHECK(total_of(operands, place, 2).received == 3999);
  CHECK(total_of(operands, place, 2).places == 4000);
  REQUIRE(plan.temporaries.second_places.size() == 1);
  auto const& second = plan.temporaries.second_places[0];
  CHECK(second.places == Box{{0, 0}, {1, 1}});
  CHECK(second.from_places(second.places.lo) == Index{0, 0});
}

TEST_CASE("a periodic image is copied from where its cell comes to") {
  auto const u = cells_on_devices(8, 2);
  auto const place = work_on(make_layout(Mesh({0, 1}, {2}, {"x"}), P(none), {8}));
  std::vector<OperandUse> const operands{read_from_temporary(u, shifted_by({1}, {8}, periodic)),
                                         read_from_temporary(u, shifted_by({0}))};

  auto const plan = plan_exchange(operands, place, DeviceId{1});

  CHECK(test::text_of(plan) ==
        "sends 0 leaf 1: [4:8]; receives 0 leaf 1: [0:4]; copies 1 leaf 1: [4:8]");
  REQUIRE(plan.temporaries.second_places.size() == 1);
  auto const& second = plan.temporaries.second_places[0];
  CHECK(second.places == Box{{8}, {9}});
  CHECK(second.from_places({8}) == Index{0});
}

TEST_CASE("every second cell is copied from all of them, and odd ones lie apart from even ones") {
  auto const u = cells_on_devices(40, 2);
  auto const place = work_on(make_layout(Mesh({{"x", 2}}), P(none), {20}));
  auto const every_second = [&](std::int64_t first) {
    return read_from_temporary(u, Access::plain({1, {{0, first, 2}}}));
  };
  auto const all = read_from_temporary(u, shifted_by({0}));

  CHECK(total_of({every_second(0), every_second(1)}, place, 2).received == 40);
  CHECK(total_of({every_second(0), every_second(1)}, place, 2).places == 80);
  // Device 1 lacks [0, 20), device 0 every second of [20, 40).
  CHECK(total_of({all, every_second(0)}, place, 2).received == 30);
  CHECK(total_of({every_second(0), all}, place, 2).received == 30);
}

TEST_CASE("a column of every fourth cell is copied from every second one, whatever is read first") {
  auto const u = make_layout(Mesh({0}, {1}, {"x"}), P(none, none), {20, 20});
  auto const place = work_on(make_layout(Mesh({1}, {1}, {"x"}), P(none, none), {5, 5}));
  auto const read = [&](AxisMap const& rows, AxisMap const& columns) {
    return read_from_temporary(u, Access::plain({2, {rows, columns}}));
  };
  auto const column = read({0, 0, 4}, {AxisMap::fixed, 5, 1});
  auto const grid = read({0, 0, 2}, {1, 2, 3});
  auto const row = read({AxisMap::fixed, 3, 1}, {1, 0, 1});
  auto const both = read({0, 0, 2}, {1, 0, 2});
  auto const rows = read({0, 0, 1}, {1, 0, 2});

  // The column has cells 0 4 8 12 16, the grid 0 2 4 6 8 of column 5: three in common.
  CHECK(total_of({column, grid, row}, place, 2).received == 5 + 25 + 5 - 3);
  CHECK(total_of({grid, row, column}, place, 2).received == 5 + 25 + 5 - 3);
  CHECK(total_of({both, rows}, place, 2).received == total_of({rows, both}, place, 2).received);
}

TEST_CASE("neighbours share a temporary, and what lies far apart does not") {
  auto const u = cells_on_devices(100'000, 2);
  auto const place = work_on(make_layout(Mesh({2}, {1}, {"x"}), P(none), {1000}));
  auto const from = [&](std::int64_t first) { return read_from_temporary(u, shifted_by({first})); };
  auto const temporaries = [&](std::vector<OperandUse> const& operands) {
    return plan_exchange(operands, place, DeviceId{2}).temporaries.list.size();
  };

  CHECK(temporaries({from(0), from(1000)}) == 1);
  CHECK(temporaries({from(0), from(500)}) == 1);
  CHECK(temporaries({from(0), from(40'000)}) == 2);
}

TEST_CASE("ten thousand work boxes have one temporary") {
  auto const dealt = cells_on_devices(20'000, 2, Cut::cyclic(1));
  auto const place = work_on(dealt, {{2}, {19'998}});
  std::vector<OperandUse> operands;
  for (std::int64_t offset = -2; offset <= 2; ++offset)
    operands.push_back(read_from_temporary(dealt, shifted_by({offset})));

  auto const plan = plan_exchange(operands, place, DeviceId{0});

  CHECK(plan.temporaries.list.size() == 1);
  std::int64_t received = 0;
  for (auto const& transfer : plan.receives) received += transfer.cells.count();
  CHECK(received == 9'999);
}

// If planning looked at all pairs of boxes, these would take minutes.
TEST_CASE("ten thousand work boxes whose cells cannot lie together") {
  std::int64_t received = 0;
  auto const count = [&](std::vector<OperandUse> const& operands, ComputePlacement const& place) {
    received = 0;
    auto const plan = plan_exchange(operands, place, DeviceId{0});
    for (auto const& transfer : plan.receives) received += transfer.cells.count();
    return plan.temporaries.list.size();
  };
  auto const dealt = [](std::int64_t cells, std::int64_t devices, std::int64_t block) {
    return cells_on_devices(cells, devices, Cut::cyclic(block));
  };

  // A stencil of blocks far apart: each has two cells of others.
  auto const far = dealt(64 * 64 * 1'000, 64, 64);
  auto const inside = work_on(far, {{1}, {64 * 64 * 1'000 - 1}});
  CHECK(
      count({read_from_temporary(far, shifted_by({-1})), read_from_temporary(far, shifted_by({0})),
             read_from_temporary(far, shifted_by({1}))},
            inside) == 1'000);
  CHECK(received == 1'999);

  // Even and odd cells, of two kinds.
  auto const u = dealt(80'000, 2, 4);
  auto const place = work_on(dealt(40'000, 2, 4));
  (void)count({read_from_temporary(u, Access::plain({1, {{0, 0, 2}}})),
               read_from_temporary(u, Access::plain({1, {{0, 1, 2}}}))},
              place);
  CHECK(received == 20'000);

  // A cross of tiles.
  auto const plane = make_layout(tiles(2, 2), P("x", "y"), {800, 800}, Cut::cyclic(4));
  auto const inner = work_on(plane, {{1, 1}, {799, 799}});
  std::vector<OperandUse> cross;
  for (auto const& offsets : std::vector<Index>{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}})
    cross.push_back(read_from_temporary(plane, shifted_by(offsets)));
  (void)count(cross, inner);
  // 16 of each tile; along two edges of the plane six less, and two of these not twice.
  CHECK(received == 16 * 10'000 - 2 * 100 * 6 + 2);
}

TEST_CASE("cells of views that wrap around differently lie apart") {
  auto const u = cells_on_devices(16, 2);
  auto const place = work_on(make_layout(Mesh({2}, {1}, {"x"}), P(none), {5}));
  auto const in_view = [&](std::int64_t first, std::int64_t count, std::int64_t stride,
                           std::int64_t offset) {
    auto access = Access::plain({1, {{0, offset, stride}}});
    access.boundaries[0] = {periodic, periodic, first, count};
    return read_from_temporary(u, access);
  };
  auto const temporaries = [&](std::vector<OperandUse> const& operands) {
    return plan_exchange(operands, place, DeviceId{2}).temporaries.list.size();
  };

  // [4, 8) from 7 on: 7 4 5 6 7; past 8 lie others' cells.
  auto const view = in_view(4, 4, 1, 7);
  CHECK(temporaries({view, in_view(4, 4, 1, 3)}) == 1);
  CHECK(temporaries({view, in_view(5, 4, 1, 7)}) == 2);
  CHECK(temporaries({view, in_view(4, 5, 1, 7)}) == 2);
  CHECK(temporaries({view, read_from_temporary(u, shifted_by({8}))}) == 2);
  CHECK(temporaries({view, read_from_temporary(u, shifted_by({1}))}) == 2);
  // [5, 9] backwards, from 9 on past 5, and the same cells forwards.
  CHECK(temporaries({in_view(9, 5, -1, 10), in_view(5, 5, 1, 6)}) == 1);
}

TEST_SUITE_END();
