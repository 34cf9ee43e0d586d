#include "src/statement/lowering/lower_statement.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/plan/access.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/statement.hpp"

#include "plan/cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::make_layout;
using test::SharedLayout;
using test::shifted_by;
using test::work_on;

/// What any device of a job does for a statement, in one process: no device is asked.
TEST_SUITE_BEGIN("statement/lower_statement");

namespace {

using Array = std::shared_ptr<ArrayModel>;

Array doubles(SharedLayout const& layout, std::uint64_t number) {
  return std::make_shared<ArrayModel>(layout, 8, number);
}

Statement statement_of(Array const& target, ComputePlacement const& work,
                       std::vector<OperandRequest> const& operands) {
  Statement statement;
  statement.kind = "assignment";
  statement.work = work;
  statement.target = target;
  for (auto const& operand : operands) statement.operands.push_back(operand);
  return statement;
}

/// A statement with ghost cells as wide as it needs them.
struct Case {
  explicit Case(Statement const& made) : statement(made), modes(choose_modes(statement)) {
    growth = growth_for(statement, modes);
    for (auto const& [operand, widths] : growth)
      statement.operands[operand].array->set_widths(widths);
  }

  [[nodiscard]] LoweredDevice on(std::int64_t device) const {
    return lower_device(StatementUse(statement, modes), DeviceId{device});
  }
  [[nodiscard]] LoweredStatement on_all(std::int64_t devices) const {
    return lower_statement(statement, modes, {DeviceId{0}, devices});
  }

  Statement statement;
  OperandModes modes;
  std::vector<GhostGrowth> growth;
};

char const* name_of(Storage storage) {
  switch (storage) {
    case Storage::shard:
      return "shard";
    case Storage::scratch:
      return "scratch";
    case Storage::constant:
      return "constant";
    case Storage::target:
      break;
  }
  return "target";
}

/// "to 1: 8 bytes of shard at 64"; runs of a message are joined by " and ".
std::string list_of(std::vector<MessagePlan> const& messages) {
  std::vector<std::string> words;
  for (auto const& message : messages) {
    std::vector<std::string> blocks;
    for (auto const& block : message.blocks)
      blocks.push_back(text(block.bytes, " bytes of ", name_of(block.storage), " at ",
                            block.block.offset_bytes));
    words.push_back(text(message.peer, ": ", join(blocks, "", "", " and ")));
  }
  return join(words);
}

/// "(1,) + (3,) to 8 from shard 64, constant 32": first index, extents, and places in bytes.
std::string text_of(Part const& part, CompactList<PartOperand>::Iterator& operand) {
  auto const result =
      text(part.first, " + ", part.extents, " to ", part.target_offset_bytes, " from ");
  std::vector<std::string> operands;
  for (std::size_t l = 0; l < part.operand_count; ++l, ++operand)
    operands.push_back(text(name_of(operand->storage), ' ', operand->offset_bytes));
  return result + join(operands);
}

std::string parts_of(LoweredDevice const& device) {
  std::vector<std::string> parts;
  auto operand = device.operands.begin();
  for (auto const& part : device.parts) parts.push_back(text_of(part, operand));
  return join(parts, "", "", "; ");
}

}  // namespace

//  device 0    device 1    device 2
//  [0 1 2 3]   [4 5 6]     [7 8 9]

TEST_CASE("a stencil receives its neighbours' cells past the edges of the shard") {
  auto const layout = cells_on_devices(10, 3);
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  Case const stencil(
      statement_of(v, work_on(layout, {{1}, {9}}), {{u, shifted_by({-1})}, {u, shifted_by({1})}}));

  CHECK(stencil.growth == std::vector<GhostGrowth>{{0, {{1}, {1}}}});
  auto const inner = stencil.on(1);
  // Rows of u begin at a line of 64 bytes with the first own cell; cell 3 lies before it.
  CHECK(list_of(inner.sends) == "0: 8 bytes of shard at 64, 2: 8 bytes of shard at 80");
  CHECK(list_of(inner.receives) == "0: 8 bytes of shard at 56, 2: 8 bytes of shard at 88");
  CHECK(inner.copies.empty());
  CHECK(parts_of(inner) == "(4,) + (3,) to 0 from shard 56, shard 72");
  CHECK(inner.buffers.size() == 1);
  CHECK(inner.scratch_bytes == 0);
  CHECK(parts_of(stencil.on(0)) == "(1,) + (3,) to 8 from shard 64, shard 80");
  CHECK(parts_of(stencil.on(2)) == "(7,) + (2,) to 0 from shard 56, shard 72");
}

TEST_CASE("ghost cells that are wide enough do not grow, and fresh ones are not sent again") {
  auto const layout = cells_on_devices(10, 3);
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  auto const statement = statement_of(v, work_on(layout, {{0}, {9}}), {{u, shifted_by({1})}});
  Case const first(statement);
  auto const lowered = first.on_all(3);
  u->halo_validity().note_fill(lowered.fills[0]);

  Case const again(statement);

  CHECK(lowered.messages == 2);
  CHECK(again.growth.empty());
  CHECK(again.on_all(3).messages == 0);
}

TEST_CASE("inner cells are one part, and cells past a constant edge another") {
  auto const layout = cells_on_devices(10, 3);
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  Case const shifted(
      statement_of(v, work_on(layout), {{u, shifted_by({-1}, {10}, BoundaryKind::constant), 32}}));

  CHECK(parts_of(shifted.on(0)) ==
        "(0,) + (1,) to 0 from constant 32; (1,) + (3,) to 8 from shard 64");
  CHECK(parts_of(shifted.on(1)) == "(4,) + (3,) to 0 from shard 56");
}

TEST_CASE("what only moves cells of the device and transposes them is a copy, not a kernel") {
  Mesh const one({{"x", 1}});
  auto const layout = make_layout(one, P("x", none), {512, 27});
  auto const turned = Access::plain({2, {{1, 0, 1}, {0, 0, 1}}});
  auto statement = statement_of(doubles(layout, 1), work_on(layout, {{0, 0}, {512, 27}}),
                                {{doubles(make_layout(one, P("x", none), {27, 512}), 2), turned}});
  auto const computed = Case(statement).on(0);
  statement.copied_bytes = 8;
  auto const moved = Case(statement).on(0);

  CHECK(computed.copies.empty());
  CHECK(computed.parts.size() == 1);
  CHECK(moved.parts.empty());
  REQUIRE(moved.copies.size() == 1);
  CHECK(moved.copies[0].storage == Storage::target);
  // Rows of 27 cells lie one after another, rows of 512 cells have a line more.
  CHECK(moved.copies[0].pair.to == StridedBlock{{512, 27}, {216, 8}, 0, 8});
  CHECK(moved.copies[0].pair.from == StridedBlock{{512, 27}, {8, 4096 + 64}, 0, 8});
}

TEST_CASE("what most devices lack is put together in the scratch area") {
  auto const layout = cells_on_devices(10, 3);
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  Access const reversed = Access::plain({1, {{0, 9, -1}}});
  Case const gather(statement_of(v, work_on(layout), {{u, reversed}}));

  auto const first = gather.on(0);
  CHECK(gather.growth.empty());
  CHECK(list_of(first.receives) == "1: 8 bytes of scratch at 0, 2: 24 bytes of scratch at 8");
  CHECK(parts_of(first) == "(0,) + (4,) to 0 from scratch 24");
  CHECK(first.scratch_bytes == 64);
  auto const sent = gather.on(2).sends;
  REQUIRE(list_of(sent) == "0: 24 bytes of shard at 0");
  CHECK(sent[0].blocks[0].block == StridedBlock{{}, {}, 0, 24});
  // Device 1 needs cells 5, 4 and 3: two of them are its own.
  auto const middle = gather.on(1);
  REQUIRE(middle.copies.size() == 1);
  CHECK(middle.copies[0].storage == Storage::scratch);
  CHECK(stream_bytes(middle.copies[0].pair.to) == 16);
}

TEST_CASE("cells that are only moved land in the target, and no kernel runs") {
  auto const layout = cells_on_devices(10, 3);
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  auto statement = statement_of(v, work_on(layout), {{u, Access::plain({1, {{0, 9, -1}}})}});
  statement.copied_bytes = 8;

  auto const first = Case(statement).on(0);

  CHECK(list_of(first.receives) == "1: 8 bytes of target at 24, 2: 24 bytes of target at 0");
  CHECK(first.parts.empty());
  CHECK(first.scratch_bytes == 0);
}

TEST_CASE("a box that reads what it overwrites swaps buffers, a smaller part is staged") {
  auto const layout = cells_on_devices(10, 3);
  auto const u = doubles(layout, 1);
  Case const shifted(statement_of(u, work_on(layout, {{0}, {5}}), {{u, shifted_by({1})}}));

  auto const whole_box = shifted.on(0);
  REQUIRE(whole_box.writes.size() == 1);
  CHECK(whole_box.writes[0].swaps);
  CHECK(whole_box.writes[0].written == Box{{0}, {4}});
  auto const one_cell = shifted.on(1);
  REQUIRE(one_cell.writes.size() == 1);
  CHECK(one_cell.writes[0].staged);
  CHECK(one_cell.parts[0].is_staged);
  CHECK(one_cell.scratch_bytes == 64);
  CHECK(one_cell.stages[0] == BlockPair{{{}, {}, 0, 8}, {{}, {}, 0, 8}});
  CHECK(shifted.on(2).writes.empty());
  CHECK(shifted.on_all(3).overwrites);
}

TEST_CASE("a pinned array gets no ghost cells") {
  auto const layout = cells_on_devices(10, 3);
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  u->pin();
  Case const stencil(statement_of(v, work_on(layout, {{0}, {9}}), {{u, shifted_by({1})}}));

  CHECK(stencil.growth.empty());
  CHECK(stencil.on(0).scratch_bytes == 64);
  CHECK(stencil.on_all(3).explanation.reads[0].cause == Communication::Cause::gather);
}

TEST_CASE("memory of the caller's is read with the caller's strides") {
  auto const layout = make_layout(Mesh({{"x", 2}}), P("x", none), {4, 3});
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  u->pin();
  Box const own{{0, 0}, {2, 3}};
  u->adopt_boxes(DeviceId{0}, {{own, {own, {10, 1}, 0, 13}}});

  auto const copy = Case(statement_of(v, work_on(layout), {{u, shifted_by({0, 0})}})).on(0);

  REQUIRE(copy.parts.size() == 1);
  CHECK(copy.operands[0].strides == Index{10, 1});
  CHECK(copy.parts[0].target_strides == Index{3, 1});
}

TEST_CASE("a reduction counts the cells of one copy") {
  auto const layout = make_layout(Mesh({{"x", 2}, {"y", 2}}), P("x"), {8});
  auto statement = statement_of(nullptr, work_on(layout), {{doubles(layout, 1), shifted_by({0})}});
  statement.result = std::make_shared<ScalarModel>(2);
  Case const sum(statement);

  CHECK(sum.on(0).parts.size() == 1);
  CHECK(sum.on(1).parts.empty());
  CHECK(sum.on(2).parts.size() == 1);
  CHECK(sum.on(3).parts.empty());
}

TEST_CASE("what a device sends is what its peer receives") {
  auto const layout = make_layout(Mesh({{"x", 4}, {"y", 2}}), P("x", "y"), {9, 7});
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  Case const diagonal(
      statement_of(v, work_on(layout), {{u, shifted_by({1, -1}, {9, 7}, BoundaryKind::periodic)}}));

  auto const all = diagonal.on_all(8);

  std::int64_t received = 0;
  for (auto const& device : all.devices) {
    for (auto const& message : device.receives) {
      auto const& sends = all.devices[static_cast<std::size_t>(message.peer.value())].sends;
      auto const sent = std::find_if(sends.begin(), sends.end(), [&](MessagePlan const& other) {
        return other.peer == device.device;
      });
      REQUIRE(sent != sends.end());
      CHECK(sent->bytes == message.bytes);
      REQUIRE(sent->blocks.size() == message.blocks.size());
      for (std::size_t b = 0; b < message.blocks.size(); ++b)
        CHECK(sent->blocks[b].bytes == message.blocks[b].bytes);
      received += message.bytes;
    }
  }
  CHECK(received == all.bytes);
  CHECK(all.explanation.bytes == all.bytes);
  CHECK(all.explanation.has(Communication::Cause::halo));
}

TEST_CASE("one device of a million has one partner on each side") {
  auto const layout = cells_on_devices(10'000'000, 1 << 20);
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);
  Case const stencil(statement_of(v, work_on(layout, {{0}, {9'999'999}}), {{u, shifted_by({1})}}));

  auto const plan = stencil.on(524'288);

  REQUIRE(plan.sends.size() == 1);
  CHECK(plan.sends[0].peer == DeviceId{524'287});
  REQUIRE(plan.receives.size() == 1);
  CHECK(plan.receives[0].peer == DeviceId{524'289});
}

TEST_CASE("large targets that are not read may be stored past the caches") {
  std::int64_t const cells = std::int64_t{1} << 21;  // 16 MiB
  auto const part_of = [](Array const& target, Array const& read, ComputePlacement const& work) {
    auto const plan = Case(statement_of(target, work, {{read, shifted_by({0})}})).on(0);
    REQUIRE(plan.parts.size() == 1);
    return plan.parts[0].may_store_non_temporal;
  };
  auto const layout = cells_on_devices(cells, 1);
  auto const u = doubles(layout, 1);
  auto const v = doubles(layout, 2);

  CHECK(part_of(v, u, work_on(layout)));
  CHECK_FALSE(part_of(u, u, work_on(layout)));
  CHECK_FALSE(part_of(v, u, work_on(layout, {{0}, {cells - 1}})));
}

//  balanced [0 1 2 3]  [4 5 6]    [7 8 9]
//  ceil     [0 1 2 3]  [4 5 6 7]  [8 9]

TEST_CASE("what the program moves leaves no ghost cells, what a statement reads does") {
  auto const rounded = cells_on_devices(10, 3, Cut::ceil());
  auto const balanced = doubles(cells_on_devices(10, 3), 1);
  auto statement =
      statement_of(doubles(rounded, 2), work_on(rounded), {{balanced, shifted_by({0}), -1}});

  CHECK(Case(statement).growth == std::vector<GhostGrowth>{{0, {{0}, {1}}}});

  statement.operands[0].array = doubles(cells_on_devices(10, 3), 3);
  statement.purpose = detail::Purpose::transfer;
  statement.copied_bytes = 8;
  Case const moved(statement);
  CHECK(moved.growth.empty());
  CHECK(moved.on(1).scratch_bytes == 0);
  auto const lowered = moved.on_all(3);
  CHECK(lowered.bytes == 8);
  CHECK(lowered.explanation.reads[0].reason == "reads (i0), which the program moves");

  statement.target = doubles(cells_on_devices(10, 3), 4);
  statement.work = work_on(statement.target->layout());
  CHECK(Case(statement).modes.in_place[0]);
}

TEST_SUITE_END();
