#include "src/execution/device_task.hpp"

#include <array>
#include <memory>
#include <stdexcept>

#include <doctest/doctest.h>

#include "src/device/driver.hpp"
#include "src/statement/statement.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/device_task");

namespace {

// One part of four doubles in scratch memory, which the kernel fills with the number of the step.
struct Filled {
  std::array<double, 4> cells{};
  Part part;
  DevicePlan plan;
  DeviceTask task;

  Filled() {
    part.first = {0};
    part.extents = {4};
    part.rows = 1;
    part.unit_stride = true;
    part.target_strides = {1};
    plan.parts = {part};
    plan.writes = {BoxWrite{}};
    task.plan = &plan;
    task.targets = {reinterpret_cast<std::byte*>(cells.data())};
    task.step = 3;
  }
};

std::shared_ptr<ArrayModel> an_array() {
  auto const layout =
      std::make_shared<Layout const>(NamedSharding(Mesh({{"x", 1}}), P("x")), Shape{4});
  return std::make_shared<ArrayModel>(layout, 8, 1);
}

void fill(void const* context, std::int64_t, std::int64_t) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto* const cells = reinterpret_cast<double*>(call.target);
  for (std::int64_t i = 0; i < call.extents->back(); ++i) cells[i] = static_cast<double>(call.step);
}

void fail(void const*, std::int64_t, std::int64_t) {
  throw std::runtime_error("not today");
}

}  // namespace

TEST_CASE("a task runs on the host until it is given the queue of a device") {
  DeviceTask task;
  CHECK(task.queue == &host_queue());

  auto const driver = make_emulated_driver();
  QueueContext gpu(driver->make_queue(0));
  task.run_on(gpu);
  CHECK(task.queue == gpu.queue.get());
  CHECK(task.context == &gpu);

  QueueContext host(shared_host_queue());
  task.run_on(host);
  CHECK(task.queue == &host_queue());
  CHECK(task.context == &host);
}

TEST_CASE("a task keeps arrays alive only where it outlives its statement") {
  auto const array = an_array();
  DeviceTask task;
  task.outlives_statement = false;
  task.keep(*array);
  CHECK(array.use_count() == 1);

  task.outlives_statement = true;
  task.keep(*array);
  CHECK(array.use_count() == 2);
}

TEST_CASE("a block's offset counts from the memory that it names") {
  std::array<std::byte, 4> memory{};
  DeviceTask task;
  task.buffers = {&memory[0], &memory[1]};
  task.scratch = &memory[2];
  task.targets = {&memory[3]};
  CHECK(base_of(task, Storage::shard, 1) == &memory[1]);
  CHECK(base_of(task, Storage::scratch, 0) == &memory[2]);
  CHECK(base_of(task, Storage::target, 0) == &memory[3]);
}

TEST_CASE("a task that was run has computed its parts and keeps nothing alive") {
  auto const array = an_array();
  Filled filled;
  filled.task.forms = {fill, fill};
  filled.task.keep(*array);

  execute(filled.task);

  CHECK(filled.cells == std::array<double, 4>{3, 3, 3, 3});
  CHECK(array.use_count() == 1);
}

TEST_CASE("a part that is written through scratch memory is copied to the target") {
  std::array<double, 4> scratch{};
  Filled filled;
  filled.task.forms = {fill, fill};
  filled.task.scratch = reinterpret_cast<std::byte*>(scratch.data());
  StridedBlock const block{{}, {}, 0, 32};
  BoxWrite staged;
  staged.staged = true;
  filled.plan.writes = {staged};
  filled.part.is_staged = true;
  filled.plan.parts = {filled.part};
  filled.plan.stages = {{block, block}};

  execute(filled.task);

  CHECK(scratch[0] == 3);
  CHECK(filled.cells == scratch);
}

TEST_CASE("cells that no statement writes are carried to the other buffer") {
  std::array<double, 4> from{1, 2, 3, 4};
  std::array<double, 4> to{};
  DevicePlan plan;
  DeviceTask task;
  task.plan = &plan;
  task.carry = {{StridedBlock{{}, {}, 8, 16}, reinterpret_cast<std::byte const*>(from.data()),
                 reinterpret_cast<std::byte*>(to.data())}};
  execute(task);
  CHECK(to == std::array<double, 4>{0, 2, 3, 0});
}

TEST_CASE("what a kernel throws passes through, and the probe has the statement to its end") {
  PhaseTimer timer(1, 8);
  Filled filled;
  filled.task.forms = {fail, fail};
  filled.task.timer = &timer;

  CHECK_THROWS_WITH_AS(execute(filled.task), "not today", std::runtime_error);

  Phase last = Phase::kernel;
  timer.ring().visit([&](Span const& span) { last = span.phase; });
  CHECK(last == Phase::statement);
}

TEST_CASE("a call is handed its task") {
  DeviceTask task;
  task.kind = DeviceTask::Kind::call;
  DeviceTask* called = nullptr;
  std::function<void(DeviceTask&)> const call = [&](DeviceTask& with) { called = &with; };
  task.call = &call;
  execute(task);
  CHECK(called == &task);
}

TEST_SUITE_END();
