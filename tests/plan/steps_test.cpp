#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/layout/count_visits.hpp"
#include "src/plan/access.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/ghost.hpp"

#include "cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::make_layout;
using test::plan_of;
using test::read_in_place;
using test::shifted_by;
using test::work_on;

/// Plans of a coarse mesh over a fine one.
TEST_SUITE_BEGIN("plan/steps");

namespace {

Access every_second(std::int64_t offset) {
  return Access::plain({1, {{0, offset, 2}}});
}

// Three fine cells around each inner cell of a coarse mesh of 2^k + 1 cells.
std::vector<OperandUse> around_coarse(test::SharedLayout const& fine) {
  std::vector<OperandUse> operands;
  for (std::int64_t const offset : {-1, 0, 1})
    operands.push_back(read_in_place(fine, every_second(offset)));
  return operands;
}

struct Cost {
  std::int64_t devices_visited = 0;
  std::string plan;
  friend bool operator==(Cost const&, Cost const&) = default;
};

// The plan of the device in the middle, with its cells counted from its first one.
Cost cost_of(std::int64_t devices, std::int64_t cells_each) {
  auto const fine = cells_on_devices(devices * cells_each + 1, devices);
  auto const coarse = cells_on_devices(devices * cells_each / 2 + 1, devices);
  auto const operands = around_coarse(fine);
  auto const place = work_on(coarse, {{1}, {coarse->shape()[0] - 1}});
  DeviceId const middle{devices / 2};
  CountVisits const visits;
  for (auto const& operand : operands) CHECK(ghost_widths_for(*fine, operand.access, place));
  auto const plan = plan_exchange(operands, place, middle);
  Cost cost{visits.devices(), {}};
  auto const note = [&](char const* what, Transfer const& transfer) {
    cost.plan += text(what, transfer.peer.value() - middle.value(), ": ",
                      transfer.cells.owned_hull().lo[0] - fine->box_of(middle).lo[0], ' ');
  };
  for (auto const& transfer : plan.sends) note("to ", transfer);
  for (auto const& transfer : plan.receives) note("from ", transfer);
  return cost;
}

}  // namespace

//            device 0        device 1    device 2    device 3
//  fine      [0 1 2 3 4]     [5 6 7 8]   [9 .. 12]   [13 .. 16]
//  coarse    [0   1   2]     [  3   4]   [  5   6]   [  7    8]

TEST_CASE("a coarse mesh takes the fine cell past its piece from the next device") {
  auto const fine = cells_on_devices(17, 4);
  auto const inner = work_on(cells_on_devices(9, 4), {{1}, {8}});

  CHECK(plan_of(around_coarse(fine), inner, 0) == "receives 1 leaf 2: [5:6] step 2 along 0");
  CHECK(plan_of(around_coarse(fine), inner, 1) ==
        "sends 0 leaf 2: [5:6] step 2 along 0; receives 2 leaf 2: [9:10] step 2 along 0");
  CHECK(plan_of(around_coarse(fine), inner, 3) == "sends 2 leaf 2: [13:14] step 2 along 0");
}

TEST_CASE("a fine mesh takes the coarse cell before its piece, once for all that read it") {
  auto const coarse = cells_on_devices(9, 4);
  auto const fine = cells_on_devices(17, 4);
  ComputePlacement const even{fine, {1, {{0, 0, 2}}}, {{0}, {9}}};
  ComputePlacement const odd{fine, {1, {{0, 1, 2}}}, {{0}, {8}}};
  HaloValidity validity;
  auto const below = [&] { return read_in_place(coarse, shifted_by({0}), 0, &validity); };
  auto const above = read_in_place(coarse, shifted_by({1}), 0, &validity);

  CHECK(plan_of({below()}, even, 1) == "nothing");
  CHECK(plan_of({below(), above}, odd, 1) == "sends 2: [4:5]; receives 0: [2:3]");

  validity.note_fill(Fill::make({below().access}, odd));
  CHECK(plan_of({below(), above}, odd, 1) == "nothing");
  validity.note_write({{2}, {3}});
  CHECK(plan_of({below(), above}, odd, 1) == "receives 0: [2:3]");
}

//            device 0        device 1
//  fine      rows 0 to 4     rows 5 to 8, of 9 cells
//  coarse    rows 0 to 2     rows 3 and 4, of 5 cells

TEST_CASE("cells that several slices read with the same step are sent once") {
  Mesh const mesh({{"x", 2}});
  auto const fine = make_layout(mesh, P("x", none), {9, 9});
  auto const inner = work_on(make_layout(mesh, P("x", none), {5, 5}), {{1, 1}, {4, 4}});
  auto const below = [&](std::int64_t offset) {
    return read_in_place(fine, Access::plain({2, {{0, 1, 2}, {1, offset, 2}}}));
  };
  auto const steps = " step 2 along 0 step 2 along 1";

  CHECK(plan_of({below(-1), below(1), below(0)}, inner, 0) ==
        text("receives 1: [5:6, 1:6]", steps, ", 1 leaf 1: [5:6, 7:8]", steps,
             ", 1 leaf 2: [5:6, 2:7]", steps));
  CHECK(plan_of({below(1), below(-1)}, inner, 0) ==
        text("receives 1: [5:6, 3:8]", steps, ", 1 leaf 1: [5:6, 1:2]", steps));
  // A slice without a step gives all of them.
  auto const row = read_in_place(fine, Access::plain({2, {{0, 1, 2}, {1, 3, 1}}}));
  CHECK(plan_of({row, below(1)}, inner, 0) ==
        text("receives 1: [5:6, 4:7] step 2 along 0, 1 leaf 1: [5:6, 3:4]", steps,
             ", 1 leaf 1: [5:6, 7:8]", steps));
}

TEST_CASE("the plan of a coarse mesh costs the same for 64 devices and for a million") {
  auto const of_few = cost_of(64, 32);
  auto const of_many = cost_of(1'048'576, 32);

  CHECK(of_few.plan == "to -1: 0 from 1: 32 ");
  CHECK(of_few == of_many);
}

TEST_SUITE_END();
