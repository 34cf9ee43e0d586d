#include "src/statement/loop/lower_loop.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "src/plan/ghost.hpp"

#include "plan/cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::shifted_by;
using test::work_on;

/// What any device of a job does in a block of steps, in one process: no device is asked.
TEST_SUITE_BEGIN("statement/build");

namespace {

/// v(i) = u(i - 1) + u(i + 1) over the inner cells of an array; then u and v change places.
struct Heat {
  Heat(std::int64_t cells, std::int64_t devices) {
    auto const layout = cells_on_devices(cells, devices);
    for (std::uint64_t number = 1; number <= 2; ++number)
      bindings.arrays.push_back(std::make_shared<ArrayModel>(layout, 8, number));
    bindings.next_array = {1, 0};
    bindings.period = 2;
    auto& statement = step.emplace_back().statement;
    statement.kind = "assignment";
    statement.work = work_on(layout, {{1}, {cells - 1}});
    statement.target = bindings.arrays[1];
    statement.operands.push_back({bindings.arrays[0], shifted_by({-1})});
    statement.operands.push_back({bindings.arrays[0], shifted_by({1})});
    analysis = analyze(step, bindings);
  }

  [[nodiscard]] LoweredLoop lower(std::int64_t steps, std::int64_t tile,
                                  DeviceSpan const& devices) const {
    auto const schedule = schedule_block(analysis.body, steps, 1);
    auto const widths = ghost_widths_of_loop(bindings, schedule);
    for (std::size_t a = 0; a < widths.size(); ++a) bindings.arrays[a]->set_widths(widths[a]);
    BlockShape shape;
    shape.steps = steps;
    shape.tile = {tile};
    return lower_loop({step, bindings, analysis, schedule}, shape, devices);
  }

  std::vector<RecordedStatement> step;
  ArrayBindings bindings;
  LoopAnalysis analysis;
};

DeviceSpan device(std::int64_t number) {
  return {DeviceId{number}, 1};
}

constexpr std::int64_t all_cells = std::int64_t{1} << 40;

}  // namespace

//  device 0    device 1    device 2
//  [0 1 2 3]   [4 5 6 7]   [8 9 10 11]

TEST_CASE("a block of two steps receives two cells from each side, once") {
  Heat const heat(12, 3);
  REQUIRE(heat.analysis.fallback_reason.empty());

  auto const loop = heat.lower(2, all_cells, device(1));

  CHECK(heat.bindings.arrays[0]->widths() == GhostWidths{{2}, {2}});
  auto const& later = loop.later.devices[0];
  REQUIRE(later.sends.size() == 2);
  CHECK(later.sends[0].peer == DeviceId{0});
  CHECK(later.sends[1].peer == DeviceId{2});
  CHECK(later.receives.size() == 2);
  // Rows begin at a line of 64 bytes with the first own cell; cells 2 and 3 lie before it.
  CHECK(later.receives[0].blocks[0].block == StridedBlock{{}, {}, 48, 16});
  CHECK(loop.later.messages == 2);
}

TEST_CASE("the first of two steps computes cells of the neighbours too") {
  Heat const heat(12, 3);

  auto const loop = heat.lower(2, all_cells, device(1));

  auto const& work = loop.devices[0];
  REQUIRE(work.late.size() == 1);
  REQUIRE(work.late[0].tasks.size() == 2);
  CHECK(work.late[0].tasks[0].cells == Box{{3}, {9}});
  CHECK(work.late[0].tasks[1].cells == Box{{4}, {8}});
  REQUIRE(work.parts.size() == 1);  // buffers differ from step to step, places do not
  // Cell 4 is element 8 of a buffer, so cell 0 would be element 4.
  CHECK(work.parts[0].target.origin_bytes == 32);
  CHECK(work.parts[0].operands[0].origin_bytes == 24);
  CHECK(work.parts[0].operands[1].origin_bytes == 40);
  CHECK(work.parts[0].unit_stride);
}

TEST_CASE("what a device sends for a block is what its neighbour receives") {
  Heat const heat(13, 4);

  auto const loop = heat.lower(2, all_cells, {DeviceId{0}, 4});

  for (std::size_t d = 0; d + 1 < 4; ++d) {
    auto const& sends = loop.later.devices[d].sends;
    auto const& receives = loop.later.devices[d + 1].receives;
    CHECK(sends.back().peer == DeviceId{static_cast<std::int64_t>(d + 1)});
    CHECK(receives.front().peer == DeviceId{static_cast<std::int64_t>(d)});
    CHECK(sends.back().bytes == receives.front().bytes);
  }
}

// u = v + the sum of u over cells that two meshes' axes hold alike.
TEST_CASE("only the first copy of a cell is added up, and every device gets the sum") {
  Mesh const mesh({{"x", 2}, {"copies", 2}});
  auto const layout = std::make_shared<Layout const>(NamedSharding(mesh, P("x")), Shape{12});
  std::vector<RecordedStatement> step(2);
  ArrayBindings bindings;
  bindings.arrays = {std::make_shared<ArrayModel>(layout, 8, 1),
                     std::make_shared<ArrayModel>(layout, 8, 2)};
  bindings.next_array = {0, 1};
  bindings.scalars = {std::make_shared<ScalarModel>(1)};
  bindings.next_scalar = {0};
  auto& total = step[0].statement;
  total.kind = "sum";
  total.work = work_on(layout);
  total.operands.push_back({bindings.arrays[0], shifted_by({0})});
  total.result = bindings.scalars[0];
  auto& write = step[1].statement;
  write.kind = "assignment";
  write.work = work_on(layout);
  write.target = bindings.arrays[0];
  write.operands.push_back({bindings.arrays[1], shifted_by({0})});
  write.scalars.push_back(bindings.scalars[0]);
  auto const analysis = analyze(step, bindings);
  REQUIRE(analysis.fallback_reason.empty());
  BlockShape shape;
  shape.tile = {all_cells};

  auto const loop = lower_loop({step, bindings, analysis, schedule_block(analysis.body, 1, 1)},
                               shape, {DeviceId{0}, 5});

  CHECK(loop.parts == 2);
  REQUIRE(loop.reductions.size() == 1);
  CHECK(loop.reductions[0].kernel == 0);
  CHECK(loop.reductions[0].step == 0);
  CHECK(loop.reductions[0].part == 0);
  for (std::size_t d = 0; d < 4; ++d) {
    CAPTURE(d);
    auto const& work = loop.devices[d];
    REQUIRE(work.late.size() == 2);
    bool const is_first_copy = layout->replica_of(DeviceId{static_cast<std::int64_t>(d)}) == 0;
    REQUIRE(work.late[0].tasks.size() == (is_first_copy ? 1 : 0));
    if (is_first_copy) CHECK(work.late[0].tasks[0].reduces);
    CHECK(work.late[1].tasks.size() == 1);
  }
  CHECK(loop.devices[4].late.empty());  // it is not of the mesh
}

TEST_CASE("only whole steps of large arrays are stored past the caches, as plain statements are") {
  std::int64_t const cells = (std::int64_t{1} << 21) + 2;  // 16 MiB are written
  Heat const heat(cells, 1);
  auto const non_temporal = [&](std::int64_t steps, std::int64_t tile) {
    return heat.lower(steps, tile, device(0)).devices[0].late[0].tasks[0].non_temporal;
  };

  CHECK(non_temporal(1, all_cells));
  CHECK_FALSE(non_temporal(1, cells / 2));
  CHECK_FALSE(non_temporal(2, all_cells));
  CHECK_FALSE(
      Heat(cells - 1, 1).lower(1, all_cells, device(0)).devices[0].late[0].tasks[0].non_temporal);
}

TEST_SUITE_END();
