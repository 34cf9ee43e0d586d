// Blocks of a loop on one device of the host: which cells, which step, which buffer and which form
// of the kernel each launch gets.
#include "src/execution/run_loop.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/device/row_launch.hpp"

#include "support/left_out.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/run_loop");

namespace {

// A launch, as its kernel saw it.
struct Launch {
  char form = ' ';
  std::int64_t first = 0;  // cell
  std::int64_t cells = 0;
  std::int64_t step = 0;
  std::byte* buffer = nullptr;  // that holds the target

  friend bool operator==(Launch const&, Launch const&) = default;
};
std::vector<Launch> launches;

// Cells lie side by side, so the buffer begins `first` cells before the target.
void note(char form, void const* context) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto const first = call.first->back();
  launches.push_back({form, first, call.extents->back(), call.step, call.target - 8 * first});
}
void unit_form(void const* call, std::int64_t, std::int64_t) {
  note('u', call);
}
void any_form(void const* call, std::int64_t, std::int64_t) {
  note('a', call);
}
void non_temporal_form(void const* call, std::int64_t, std::int64_t) {
  note('n', call);
}

constexpr std::int64_t cells = 8;
AxisMap const identity{0, 0, 1};

// A loop over one array of 8 doubles in two buffers. Each step writes all cells from the current
// buffer into the other.
struct OneArray {
  KokkosScope kokkos;
  std::vector<std::byte> memory[2] = {std::vector<std::byte>(8 * cells),
                                      std::vector<std::byte>(8 * cells)};
  Loop loop{LoweredLoop{}};
  std::vector<std::shared_ptr<ArrayState>> arrays{nullptr};
  LoopPass pass;

  OneArray() {
    LoopKernel kernel;
    kernel.forms = {unit_form, any_form, non_temporal_form, nullptr};
    kernel.bytes.resize(8);
    loop.kernels = {kernel};
    loop.steps = 1;
    loop.statements = 1;
    loop.after = {{0, 1}};  // the array is where the step wrote it
    loop.tile = {cells};
    loop.first->devices.resize(1);
    loop.later->devices.resize(1);
    loop.devices.resize(1);
    LoopOperand const operand{0, {1}, {8}, 0, false};
    loop.devices[0].parts = {{0, true, {identity}, operand, {operand}}};
    pass.tiles = {{0}, {cells}};
    pass.tasks = {task_of(0, cells)};
  }

  // The cells [lo, hi), from buffer 0 to buffer 1.
  static LoopTask task_of(std::int64_t lo, std::int64_t hi) {
    LoopTask task;
    task.cells = {{lo}, {hi}};
    task.skew = {0};
    task.target = 1;
    task.operands = {0};
    return task;
  }

  [[nodiscard]] std::byte* buffer(int which) { return memory[which].data(); }

  // The launches of some blocks, and which buffer then holds the array.
  std::pair<std::vector<Launch>, std::byte*> run(std::int64_t blocks, std::int64_t first_step = 0) {
    loop.devices[0].late = {pass};
    launches.clear();
    LoopRun const run{loop, arrays, blocks, first_step};
    DeviceTask task;
    LoopArguments arguments{&run, 0, {{buffer(0), buffer(1)}}, {}};
    run_loop(task, arguments);
    return {launches, arguments.buffers[0][0]};
  }
};

}  // namespace

TEST_CASE("no blocks are no work") {
  OneArray one;
  auto const [launched, holder] = one.run(0);
  CHECK(launched.empty());
  CHECK(holder == one.buffer(0));
}

TEST_CASE("blocks write the two buffers in turn and count the steps of the caller") {
  OneArray one;
  auto const [launched, holder] = one.run(3, 10);
  CHECK(launched == std::vector<Launch>{{'u', 0, cells, 10, one.buffer(1)},
                                        {'u', 0, cells, 11, one.buffer(0)},
                                        {'u', 0, cells, 12, one.buffer(1)}});
  CHECK(holder == one.buffer(1));
}

TEST_CASE("a task's non-temporal stores reach the launch, and only that task's") {
  OneArray one;
  one.pass.tasks = {OneArray::task_of(0, 4), OneArray::task_of(4, 8)};
  one.pass.tasks[1].non_temporal = true;
  auto const launched = one.run(1).first;
  CHECK(launched ==
        std::vector<Launch>{{'u', 0, 4, 0, one.buffer(1)}, {'n', 4, 4, 0, one.buffer(1)}});
}

TEST_CASE("rows that are not contiguous get the form for any strides") {
  OneArray one;
  one.loop.devices[0].parts[0].unit_stride = false;
  auto const launched = one.run(1).first;
  CHECK(launched == std::vector<Launch>{{'a', 0, cells, 0, one.buffer(1)}});
}

TEST_CASE("a statement with a step of its own gets that one") {
  OneArray one;
  one.loop.kernels[0].step = 42;
  one.loop.kernels[0].has_fixed_step = true;
  auto const launched = one.run(2, 7).first;
  REQUIRE(launched.size() == 2);
  CHECK(launched[0].step == 42);
  CHECK(launched[1].step == 42);
}

TEST_CASE("tasks run tile by tile, each in the part of the tile that its skew leaves") {
  if (test::left_out_if(launch_is_parallel(), "the order of calls is that of one thread")) return;
  OneArray one;
  one.loop.tile = {4};
  one.pass.tiles = {{0}, {10}};
  // The second task is two cells behind the first, and one step later.
  one.pass.tasks = {OneArray::task_of(0, cells), OneArray::task_of(0, cells)};
  one.pass.tasks[1].skew = {2};
  one.pass.tasks[1].step = 1;
  auto const launched = one.run(1).first;
  auto* const target = one.buffer(1);
  CHECK(launched == std::vector<Launch>{{'u', 0, 4, 0, target},
                                        {'u', 0, 2, 1, target},
                                        {'u', 4, 4, 0, target},
                                        {'u', 2, 4, 1, target},
                                        {'u', 6, 2, 1, target}});
}

TEST_CASE("a tile of any length is cut where the cells end") {
  if (test::left_out_if(launch_is_parallel(), "the order of calls is that of one thread")) return;
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  for (auto const extent : {largest, largest - 1, largest / 2}) {
    OneArray one;
    one.loop.tile = {extent};
    one.pass.tiles = {{2}, {cells + 2}};
    one.pass.tasks = {OneArray::task_of(2, cells), OneArray::task_of(2, cells)};
    one.pass.tasks[1].skew = {2};
    one.pass.tasks[1].step = 1;
    CHECK(one.run(1).first == std::vector<Launch>{{'u', 2, cells - 2, 0, one.buffer(1)},
                                                  {'u', 2, cells - 2, 1, one.buffer(1)}});
  }
}

TEST_SUITE_END();
