#include "src/execution/device_task.hpp"

#include <array>
#include <memory>
#include <stdexcept>

#include <doctest/doctest.h>

#include "src/device/gpu.hpp"
#include "src/statement/kernel.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/record");

namespace {

// One part of four doubles in scratch memory, which the kernel fills with the number of the step.
struct Filled {
  std::array<double, 4> cells{};
  DevicePlan plan;
  Record record;

  Filled() {
    Part part;
    part.first = {0};
    part.extents = {4};
    part.rows = 1;
    part.unit_stride = true;
    part.target_strides = {1};
    plan.parts = {part};
    plan.writes = {BoxWrite{}};
    record.plan = &plan;
    record.targets = {reinterpret_cast<std::byte*>(cells.data())};
    record.step = 3;
  }
};

void fill(void const* context, std::int64_t, std::int64_t) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto* const cells = reinterpret_cast<double*>(call.target);
  for (std::int64_t i = 0; i < call.extents->back(); ++i) cells[i] = static_cast<double>(call.step);
}

void fail(void const*, std::int64_t, std::int64_t) {
  throw std::runtime_error("not today");
}

}  // namespace

TEST_CASE("a record runs on the host unless it is given a GPU") {
  Record record;
  CHECK(record.queue == &host_queue());

  auto const driver = make_emulated_driver();
  GpuSide gpu(driver->make_stream(0));
  record.run_on(&gpu);
  CHECK(record.queue == gpu.stream.get());
  CHECK(record.gpu_context == &gpu);

  record.run_on(nullptr);
  CHECK(record.queue == &host_queue());
  CHECK(record.gpu_context == nullptr);
}

TEST_CASE("a record keeps arrays alive only where it outlives its statement") {
  auto const array = std::make_shared<int>(1);
  Record record;
  record.outlives_statement = false;
  record.keep(array);
  CHECK(array.use_count() == 1);

  record.outlives_statement = true;
  record.keep(array);
  CHECK(array.use_count() == 2);
}

TEST_CASE("a block's offset counts from the memory that it names") {
  std::array<std::byte, 4> memory{};
  Record record;
  record.buffers = {&memory[0], &memory[1]};
  record.scratch = &memory[2];
  record.targets = {&memory[3]};
  CHECK(base_of(record, Storage::shard, 1) == &memory[1]);
  CHECK(base_of(record, Storage::scratch, 0) == &memory[2]);
  CHECK(base_of(record, Storage::target, 0) == &memory[3]);
}

TEST_CASE("a record that was run has computed its parts and keeps nothing alive") {
  auto const array = std::make_shared<int>(1);
  Filled filled;
  filled.record.forms = {fill, fill};
  filled.record.keep(array);

  execute(filled.record);

  CHECK(filled.cells == std::array<double, 4>{3, 3, 3, 3});
  CHECK(array.use_count() == 1);
}

TEST_CASE("a part that is written through scratch memory is copied to the target") {
  std::array<double, 4> scratch{};
  Filled filled;
  filled.record.forms = {fill, fill};
  filled.record.scratch = reinterpret_cast<std::byte*>(scratch.data());
  StridedBlock const block{{}, {}, 0, 32};
  filled.plan.writes[0].staged = true;
  filled.plan.writes[0].stage = {block, block};

  execute(filled.record);

  CHECK(scratch[0] == 3);
  CHECK(filled.cells == scratch);
}

TEST_CASE("cells that no statement writes are carried to the other buffer") {
  std::array<double, 4> from{1, 2, 3, 4};
  std::array<double, 4> to{};
  DevicePlan plan;
  Record record;
  record.plan = &plan;
  record.carry = {{StridedBlock{{}, {}, 8, 16}, reinterpret_cast<std::byte const*>(from.data()),
                   reinterpret_cast<std::byte*>(to.data())}};
  execute(record);
  CHECK(to == std::array<double, 4>{0, 2, 3, 0});
}

TEST_CASE("what a kernel throws passes through, and the probe has the statement to its end") {
  Probe probe(1, 8);
  Filled filled;
  filled.record.forms = {fail, fail};
  filled.record.probe = &probe;

  CHECK_THROWS_WITH_AS(execute(filled.record), "not today", std::runtime_error);

  Phase last = Phase::kernel;
  probe.ring().visit([&](Span const& span) { last = span.phase; });
  CHECK(last == Phase::statement);
}

TEST_CASE("a call is handed its record") {
  Record record;
  record.kind = Record::Kind::call;
  Record* called = nullptr;
  std::function<void(Record&)> const call = [&](Record& with) { called = &with; };
  record.call = &call;
  execute(record);
  CHECK(called == &record);
}

TEST_SUITE_END();
