#include "src/statement/lowering/plan_bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "src/statement/lowering/lower_statement.hpp"
#include "src/statement/statement.hpp"

#include "plan/cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::make_layout;
using test::SharedLayout;
using test::shifted_by;
using test::work_on;

/// The memory of a plan follows from formulas, so that every process counts alike.
TEST_SUITE_BEGIN("statement/plan_bytes");

namespace {

Statement statement_on(SharedLayout const& target, SharedLayout const& read,
                       std::vector<Access> const& accesses) {
  Statement statement;
  statement.work = work_on(target);
  statement.target = std::make_shared<ArrayModel>(target, 8, 1);
  auto const array = read == target ? statement.target : std::make_shared<ArrayModel>(read, 8, 2);
  for (auto const& access : accesses) statement.operands.push_back({array, access});
  return statement;
}

constexpr std::int64_t little = 16 << 10;

std::int64_t bytes_of(LoweredDevice const& device) {
  auto bytes = device.parts.size_bytes() + device.operands.size_bytes() +
               device.writes.size_bytes() + device.stages.size_bytes() +
               device.buffers.size_bytes() + device.copies.size_bytes();
  for (auto const* messages :
       {&device.sends, &device.receives, &device.forwarded.sends, &device.forwarded.receives})
    for (auto const& message : *messages) bytes += message.blocks.size_bytes();
  return bytes;
}

std::int64_t most_bytes_of(Statement const& statement, std::int64_t devices) {
  auto const modes = choose_modes(statement);
  for (auto const& [operand, widths] : growth_for(statement, modes))
    statement.operands[operand].array->set_widths(widths);
  std::int64_t most = 0;
  for (std::int64_t device = 0; device < devices; ++device)
    for (std::int64_t const per_host : {devices, std::int64_t{2}})
      most = std::max(most, bytes_of(lower_device({statement, modes}, DeviceId{device},
                                                  {{devices, per_host}, 0})));
  return most;
}

/// The estimate is not less than half of what a plan takes, nor more than five times as much, but
/// for a little.
void check_estimate(Statement const& statement, std::int64_t devices) {
  auto const estimate = estimated_plan_bytes(statement);
  auto const bytes = most_bytes_of(statement, devices);
  CAPTURE(bytes);
  CHECK(2 * (estimate + little) >= bytes);
  CHECK(estimate <= 5 * bytes + little);
}

Access transposed() {
  auto map = AffineMap::identity(2);
  std::swap(map.axes[0].from, map.axes[1].from);
  return Access::plain(map);
}

}  // namespace

TEST_CASE("it follows the boxes of a device, whatever they are read through") {
  for (std::int64_t const devices : {1, 2, 5})
    for (auto const& cut : {Cut::balanced(), Cut::cyclic(1), Cut::cyclic(3)}) {
      CAPTURE(devices);
      CAPTURE(cut);
      auto const u = cells_on_devices(6000, devices, cut);
      auto const balanced = cells_on_devices(6000, devices);

      check_estimate(statement_on(u, u, {shifted_by({0})}), devices);
      check_estimate(statement_on(u, u,
                                  {shifted_by({0}, {6000}, BoundaryKind::periodic),
                                   shifted_by({1}, {6000}, BoundaryKind::periodic),
                                   shifted_by({-1}, {6000}, BoundaryKind::periodic)}),
                     devices);
      check_estimate(statement_on(balanced, u, {shifted_by({0})}), devices);
      check_estimate(statement_on(u, balanced, {shifted_by({0})}), devices);
      for (std::int64_t const far : {5999, -5999})
        check_estimate(
            statement_on(balanced, u, {shifted_by({far}, {6000}, BoundaryKind::periodic)}),
            devices);
    }
}

TEST_CASE("a slice with a step has a box for each of its cells, at most") {
  for (std::int64_t const devices : {2, 5})
    for (std::int64_t const stride : {2, 5, 10}) {
      CAPTURE(devices);
      CAPTURE(stride);
      auto const u = cells_on_devices(6000, devices, Cut::cyclic(1));
      auto const every = Access::plain({1, {{0, 0, stride}}});
      auto written = statement_on(u, u, {every});
      written.work.map = every.map;
      written.work.indices.hi[0] = 6000 / stride;

      check_estimate(written, devices);
      check_estimate(statement_on(cells_on_devices(6000 / stride, devices), u, {every}), devices);
    }
}

TEST_CASE("tiles, transposed tiles, and what every device reads whole") {
  Mesh const mesh({{"x", 2}, {"y", 3}});
  for (auto const& cut : {Cut::balanced(), Cut::cyclic(2)}) {
    CAPTURE(cut);
    auto const tiles = make_layout(mesh, P("x", "y"), {60, 60}, cut);
    auto const copies = make_layout(mesh, P(none, none), {60, 60});
    auto const rows = make_layout(mesh, P("x", none), {60, 60}, cut);

    check_estimate(statement_on(tiles, tiles, {transposed()}), 6);
    check_estimate(statement_on(copies, tiles, {shifted_by({0, 0})}), 6);
    check_estimate(statement_on(tiles, rows, {shifted_by({0, 0})}), 6);
  }
}

TEST_CASE("rows of boxes repeat where a group has room for a row") {
  Mesh const mesh({{"x", 2}, {"y", 2}});
  for (std::int64_t const columns : {64, 65}) {
    CAPTURE(columns);
    auto const tiles = make_layout(mesh, P("x", "y"), {1000, 2 * columns}, Cut::cyclic(1));
    check_estimate(statement_on(tiles, tiles, {shifted_by({0, 0})}), 4);
  }
}

TEST_CASE("two dimensions of pieces that meet") {
  Mesh const mesh({{"x", 2}, {"y", 2}});
  auto const rows = make_layout(mesh, P("x", none), {1970, 164}, Cut::cyclic(2));
  auto const tiles = make_layout(mesh, P("y", "x"), {164, 1970}, Cut::cyclic(14));
  check_estimate(statement_on(rows, tiles, {transposed()}), 4);

  Mesh const oblong({{"x", 4}, {"y", 3}});
  auto const columns = make_layout(oblong, P(none, "y"), {141, 122}, Cut::cyclic(3));
  auto const blocks = make_layout(oblong, P("y", "x"), {141, 122}, Cut::cyclic(1));
  check_estimate(statement_on(columns, blocks, {shifted_by({0, 0})}), 12);
}

TEST_CASE("pieces whose common period is long are counted one by one") {
  for (std::int64_t const block : {4, 7, 63}) {
    CAPTURE(block);
    auto const u = cells_on_devices(60'000, 5, Cut::cyclic(block));
    auto const v = cells_on_devices(60'000, 5, Cut::cyclic(64));

    check_estimate(statement_on(u, v, {shifted_by({0})}), 5);
    check_estimate(statement_on(v, u, {shifted_by({0})}), 5);
  }
}

TEST_CASE("two devices that send to twenty have more blocks than any of these") {
  auto const u = cells_on_devices(200'000, 2, Cut::cyclic(61));
  auto const v = cells_on_devices(200'000, 20, Cut::cyclic(64));
  check_estimate(statement_on(v, u, {shifted_by({0})}), 20);
  check_estimate(statement_on(u, v, {shifted_by({0})}), 20);
}

TEST_CASE("boxes in equal steps take no more for being many") {
  auto const few = cells_on_devices(1000, 2, Cut::cyclic(1));
  auto const many = cells_on_devices(100'000, 2, Cut::cyclic(1));

  CHECK(most_bytes_of(statement_on(few, few, {shifted_by({0})}), 2) < 2000);
  CHECK(most_bytes_of(statement_on(many, many, {shifted_by({0})}), 2) < 2000);
  CHECK(most_bytes_of(
            statement_on(many, many, {shifted_by({1}, {100'000}, BoundaryKind::periodic)}), 2) <
        4000);
}

TEST_CASE("a shorter slice takes less, and nothing takes next to nothing") {
  auto const u = cells_on_devices(60'000, 2, Cut::cyclic(64));
  auto const v = cells_on_devices(60'000, 2, Cut::cyclic(63));
  auto statement = statement_on(u, v, {shifted_by({0})});
  auto const whole = estimated_plan_bytes(statement);

  statement.work.indices.lo[0] = 30'000;
  CHECK(0 < estimated_plan_bytes(statement));
  CHECK(estimated_plan_bytes(statement) < whole);

  statement.work.indices.lo[0] = 60'000;
  CHECK(estimated_plan_bytes(statement) == 0);
}

TEST_CASE("numbers beyond any memory are one large number") {
  constexpr std::int64_t devices = std::int64_t{1} << 20;
  constexpr std::int64_t cells = devices << 16;
  auto const u = cells_on_devices(cells, devices, Cut::cyclic(64));
  auto const v = cells_on_devices(cells, devices, Cut::cyclic(63));
  auto const balanced = cells_on_devices(cells, devices);
  auto const copies = make_layout(Mesh({{"x", devices}}), P(none), {cells});

  CHECK(estimated_plan_bytes(statement_on(copies, u, {shifted_by({0})})) > std::int64_t{1} << 28);
  CHECK(estimated_plan_bytes(statement_on(u, v, {shifted_by({0})})) > 0);
  CHECK(estimated_plan_bytes(statement_on(balanced, balanced, {shifted_by({7})})) == 0);
}

TEST_SUITE_END();
