#include "src/execution/buffer_swap.hpp"

#include <memory>
#include <vector>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("execution/targets");

namespace {

DeviceId const self{0};

Box cells(std::int64_t first, std::int64_t last) {
  return Box{{first}, {last}};
}

// Twenty cells of 8 bytes on one device, and statements that write some of them.
struct Target {
  std::shared_ptr<ArrayState> array = std::make_shared<ArrayState>(
      std::make_shared<Layout const>(NamedSharding(Mesh({0}, {1}, {"x"}), P("x")), Shape{20}), 8, 1,
      std::vector<LocalDevice>{{self, shared_host_queue()}});
  DevicePlan plan;
  DeviceTask task;
  Targets targets;

  [[nodiscard]] Shard& shard() const { return array->shards().front(); }
  [[nodiscard]] std::vector<Box> differing() const {
    return {shard().differing.begin(), shard().differing.end()};
  }

  void write(Box const& written, bool swaps, bool without_holes = true) {
    BoxWrite write;
    write.written = written;
    write.swaps = swaps;
    write.without_holes = without_holes;
    plan.writes = {write};
    task.plan = &plan;
    targets.name(task, array, self);
  }
  // Of the last write, as ranges of cells in the buffer.
  [[nodiscard]] std::int64_t carried_cells() const {
    std::int64_t bytes = 0;
    for (auto const& carry : task.carry) bytes += stream_bytes(carry.block);
    return bytes / 8;
  }
};

}  // namespace

TEST_CASE("a plan without writes names nothing") {
  Target target;
  target.task.plan = &target.plan;
  target.task.targets = {nullptr};
  target.targets.name(target.task, target.array, self);
  CHECK(target.task.targets.empty());
}

TEST_CASE("a statement that writes in place takes the current buffer") {
  Target target;
  auto* const before = target.shard().cells();
  target.write(cells(3, 7), false);
  CHECK(target.task.targets == std::vector<std::byte*>{before});
  CHECK(target.shard().cells() == before);
  CHECK(target.differing().empty());  // there is no second buffer
}

TEST_CASE("a statement that swaps writes the other buffer, which then holds the cells") {
  Target target;
  auto* const before = target.shard().cells();
  target.write(cells(1, 19), true);
  REQUIRE(target.task.targets.size() == 1);
  CHECK(target.task.targets[0] == target.shard().cells());
  CHECK(target.task.targets[0] != before);
  CHECK(target.differing() == std::vector<Box>{cells(1, 19)});
}

TEST_CASE("a swap carries over the cells in which the buffers differ and which it does not write") {
  Target target;
  target.write(cells(1, 19), true);
  auto* const from = target.shard().cells();
  target.write(cells(4, 20), true);
  REQUIRE(target.task.carry.size() == 1);
  CHECK(target.carried_cells() == 3);
  CHECK(target.task.carry[0].from == from);
  CHECK(target.task.carry[0].to == target.shard().cells());

  target.write(cells(0, 20), true);
  CHECK(target.carried_cells() == 0);
}

TEST_CASE("cells between those of a write with holes are carried over too") {
  Target target;
  target.write(cells(5, 15), true);
  target.write(cells(0, 20), true, false);
  CHECK(target.carried_cells() == 10);
}

TEST_CASE("writes in place add to where the buffers differ, unless they lie there already") {
  Target target;
  target.write(cells(0, 2), true);
  target.write(cells(4, 6), false);
  target.write(cells(5, 6), false);
  target.write(cells(7, 7), false);
  CHECK(target.differing() == std::vector<Box>{cells(0, 2), cells(4, 6)});
}

TEST_CASE("more boxes than there is room for become one around them all") {
  Target target;
  target.write(cells(4, 5), true);
  for (std::int64_t first = 6; first < 12; first += 2) target.write(cells(first, first + 1), false);
  REQUIRE(target.differing().size() == 4);
  target.write(cells(14, 16), false);
  CHECK(target.differing() == std::vector<Box>{cells(4, 16)});
}

TEST_SUITE_END();
