#include "src/execution/task_runner.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "src/statement/statement.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/task_runner");

namespace {

constexpr std::int64_t rows = 6, columns = 4;
using Cells = std::array<double, rows * columns>;

std::vector<std::string>& calls() {
  static std::vector<std::string> made;
  return made;
}

// Target = operand + 1. Logs the call as "step:first row-last row"; the step names the statement.
void add_one(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  CHECK(first == 0);
  CHECK(last == call.extents->begin()[0]);
  calls().push_back(std::to_string(call.step) + ':' + std::to_string((*call.first)[0]) + '-' +
                    std::to_string((*call.first)[0] + last));
  auto* const to = reinterpret_cast<double*>(call.target);
  auto const* const from = reinterpret_cast<double const*>(call.operands[0].first);
  for (std::int64_t i = 0; i < last * columns; ++i) to[i] = from[i] + 1;
}

void fail(void const*, std::int64_t, std::int64_t) {
  throw std::runtime_error("not today");
}

/// A statement that writes rows [first, past) of `to`, and reads the rows of `from` that lie `by`
/// rows further on.
struct AddOne {
  Part part;
  PartOperand read;
  BoxWrite write;
  DevicePlan plan;
  DeviceTask task;

  AddOne(std::int64_t step, double* to, double* from, std::int64_t first, std::int64_t past,
         std::int64_t by = 0) {
    part.first = {first, 0};
    part.extents = {past - first, columns};
    part.rows = past - first;
    part.unit_stride = true;
    part.target_strides = {columns, 1};
    part.target_element_bytes = 8;
    part.target_offset_bytes = first * columns * 8;
    part.operand_count = 1;
    read = {Storage::shard, (first + by) * columns * 8, {columns, 1}, 0, 8};
    make_plan();
    plan.pair_bytes = pair_bytes_of(plan);
    plan.pair_trials = std::make_unique<PairTrials>();
    task.plan = &plan;
    task.step = step;
    task.forms = {add_one, add_one};
    task.targets = {reinterpret_cast<std::byte*>(to)};
    task.buffers = {reinterpret_cast<std::byte*>(from)};
  }

  /// Has to be called again after `part`, `read` or `write` has changed.
  void make_plan() {
    plan.parts = {part};
    plan.operands = {read};
    plan.writes = {write};
  }
};

PairOptions always_in_bands_of(std::int64_t rows_of_a_band) {
  PairOptions options;
  options.least_bytes = 0;
  options.forced_rows = rows_of_a_band;
  return options;
}

/// The statements v = u + 1 and w = v + 1 on 64 rows, to be run step after step. Pairs are not
/// forced.
struct Chain {
  std::array<double, 64 * columns> u{}, v{}, w{};
  AddOne first{1, v.data(), u.data(), 0, 64};
  AddOne second{2, w.data(), v.data(), 0, 64};
  TaskRunner runner{in_bands_of_four_rows()};

  static PairOptions in_bands_of_four_rows() {
    PairOptions options;
    options.least_bytes = 0;
    options.band_bytes = 4 * 3 * columns * 8;  // of three arrays
    return options;
  }
  void run(AddOne& statement) {
    auto& task = statement.task;
    task.outlives_statement = runner.would_wait(statement.plan, task.forms);
    runner.run(task);
  }
};

std::vector<std::string> calls_of(TaskRunner& runner, std::vector<DeviceTask*> const& tasks) {
  calls().clear();
  for (auto* const task : tasks) runner.run(*task);
  runner.finish();
  return calls();
}

using Calls = std::vector<std::string>;

}  // namespace

TEST_CASE("the bytes of a pair count each array once, and other plans have none") {
  Cells u{}, v{};
  AddOne const one(1, v.data(), u.data(), 0, rows);
  CHECK(one.plan.pair_bytes == 2 * rows * columns * 8);

  AddOne two(1, v.data(), u.data(), 0, rows);
  two.plan.parts.push_back(two.part);
  CHECK(pair_bytes_of(two.plan) == 0);
  AddOne staged(1, v.data(), u.data(), 0, rows);
  staged.write.staged = true;
  staged.make_plan();
  CHECK(pair_bytes_of(staged.plan) == 0);
  AddOne folded(1, v.data(), u.data(), 0, rows);
  folded.plan.whole_parts = true;
  CHECK(pair_bytes_of(folded.plan) == 0);
  AddOne summed(1, v.data(), u.data(), 0, rows);
  summed.plan.writes = {};
  CHECK(pair_bytes_of(summed.plan) == 0);
}

TEST_CASE("two statements run in bands, the second one behind what it reads") {
  Cells u{}, v{}, w{};
  AddOne first(1, v.data(), u.data(), 0, rows);
  AddOne second(2, w.data(), v.data(), 0, rows - 1, 1);
  TaskRunner runner(always_in_bands_of(2));

  CHECK(calls_of(runner, {&first.task, &second.task}) ==
        Calls{"1:0-2", "2:0-1", "1:2-4", "2:1-3", "1:4-6", "2:3-5"});

  CHECK(w[0] == 2);
  CHECK(w[(rows - 2) * columns] == 2);
  CHECK(w[(rows - 1) * columns] == 0);
}

TEST_CASE("a step that overlaps with nothing runs alone") {
  Cells u{}, v{}, w{};
  AddOne first(1, v.data(), u.data(), 0, rows), second(2, w.data(), v.data(), 0, rows);
  second.task.overlaps = false;
  TaskRunner runner(always_in_bands_of(2));
  CHECK(calls_of(runner, {&first.task, &second.task}) == Calls{"1:0-6", "2:0-6"});
}

TEST_CASE("a kernel waits for the next task, and for nothing else than that or the end") {
  Cells u{}, v{};
  AddOne first(1, v.data(), u.data(), 0, rows);
  TaskRunner runner(always_in_bands_of(2));
  calls().clear();

  runner.run(first.task);
  CHECK(calls().empty());
  CHECK(runner.last() == &first.task);
  runner.finish();
  CHECK(calls() == Calls{"1:0-6"});
  CHECK(runner.last() == nullptr);
  runner.finish();
  CHECK(calls() == Calls{"1:0-6"});

  std::function<void(DeviceTask&)> const call = [](DeviceTask&) { calls().emplace_back("call"); };
  DeviceTask other;
  other.kind = DeviceTask::Kind::call;
  other.call = &call;
  CHECK(calls_of(runner, {&first.task, &other}) == Calls{"1:0-6", "call"});
}

TEST_CASE("a statement that does not fit runs after the one that waits") {
  Cells u{}, v{}, w{};
  AddOne first(1, v.data(), u.data(), 0, rows);
  AddOne second(2, w.data(), v.data(), 0, rows);
  second.read.strides = {2 * columns, 1};
  second.part.extents = {rows / 2, columns};
  second.part.rows = rows / 2;
  second.make_plan();
  TaskRunner runner(always_in_bands_of(2));

  CHECK(calls_of(runner, {&first.task, &second.task}) == Calls{"1:0-6", "2:0-3"});
}

TEST_CASE("copies of the second statement come first unless they touch what the first one does") {
  Cells u{}, v{}, w{}, x{};
  for (bool const touches : {false, true}) {
    CAPTURE(touches);
    AddOne first(1, v.data(), u.data(), 0, rows);
    AddOne second(2, w.data(), u.data(), 0, rows);
    StridedBlock const row{{}, {}, 0, 8 * columns};
    second.task.buffers.push_back(reinterpret_cast<std::byte*>(touches ? v.data() : x.data()));
    StridedBlock const to{{}, {}, 0, 8 * columns};
    second.task.targets.push_back(reinterpret_cast<std::byte*>(x.data()));
    second.plan.writes.push_back({});
    second.plan.copies = {{{to, row}, 1, Storage::target, 1, false}};
    TaskRunner runner(always_in_bands_of(3));

    auto const made = calls_of(runner, {&first.task, &second.task});

    CHECK(made == (touches ? Calls{"1:0-6", "2:0-6"} : Calls{"1:0-3", "2:0-3", "1:3-6", "2:3-6"}));
    CHECK(x[0] == (touches ? 1 : 0));
  }
}

TEST_CASE("cells that are carried to the other buffer keep a statement from running along") {
  Cells u{}, v{}, w{};
  AddOne first(1, v.data(), u.data(), 0, rows);
  AddOne second(2, w.data(), v.data(), 1, rows);
  second.task.carry = {{StridedBlock{{}, {}, 0, 32}, reinterpret_cast<std::byte const*>(v.data()),
                        reinterpret_cast<std::byte*>(w.data())}};
  TaskRunner runner(always_in_bands_of(2));

  CHECK(calls_of(runner, {&first.task, &second.task}) == Calls{"1:0-6", "2:1-6"});
  CHECK(w[0] == 1);
}

TEST_CASE("three statements in a row are a pair and one that waits") {
  Cells u{}, v{}, w{}, x{};
  AddOne first(1, v.data(), u.data(), 0, rows);
  AddOne second(2, w.data(), v.data(), 0, rows);
  AddOne third(3, x.data(), w.data(), 0, rows);
  TaskRunner runner(always_in_bands_of(3));

  CHECK(calls_of(runner, {&first.task, &second.task, &third.task}) ==
        Calls{"1:0-3", "2:0-3", "1:3-6", "2:3-6", "3:0-6"});
  CHECK(x[0] == 3);
}

TEST_CASE("a kernel that waited throws where it runs, and nothing waits any more") {
  Cells u{}, v{}, w{};
  AddOne first(1, v.data(), u.data(), 0, rows);
  AddOne second(2, w.data(), v.data(), 0, rows);
  first.task.forms = {fail, fail};
  TaskRunner runner(always_in_bands_of(2));
  calls().clear();

  runner.run(first.task);
  CHECK_THROWS_WITH_AS(runner.run(second.task), "not today", std::runtime_error);
  CHECK(runner.last() == nullptr);
  runner.finish();

  runner.run(first.task);
  CHECK_THROWS_WITH_AS(runner.finish(), "not today", std::runtime_error);
  CHECK(runner.last() == nullptr);

  runner.run(first.task);
  runner.drop();
  runner.finish();
  CHECK(calls().empty());
}

TEST_CASE("the times of a pair are those of either statement") {
  Cells u{}, v{}, w{};
  AddOne first(1, v.data(), u.data(), 0, rows);
  AddOne second(2, w.data(), v.data(), 0, rows);
  PhaseTimer timer(2, 64);
  first.task.timer = second.task.timer = &timer;
  second.task.row = 1;
  TaskRunner runner(always_in_bands_of(2));

  auto const begin = PhaseTimer::now();
  (void)calls_of(runner, {&first.task, &second.task});
  auto const took = PhaseTimer::now() - begin;

  auto const of_kernel = [&](std::size_t row) {
    return timer.times(row)[static_cast<std::size_t>(Phase::kernel)];
  };
  CHECK(of_kernel(0) > 0);
  CHECK(of_kernel(1) > 0);
  CHECK(of_kernel(0) + of_kernel(1) <= took);
  std::vector<std::uint32_t> kernels;
  timer.ring().visit([&](Span const& span) {
    if (span.phase == Phase::kernel) kernels.push_back(span.row);
  });
  CHECK(kernels == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("without being forced, two statements that fit are tried apart and together in turn") {
  Chain chain;
  int in_bands = 0, apart = 0;
  for (int step = 0; step < 18; ++step) {
    calls().clear();
    chain.run(chain.first);
    chain.run(chain.second);
    if (calls().size() == 2) ++apart;
    if (calls().size() == 32) ++in_bands;
    chain.runner.finish();
  }

  CHECK(in_bands == 8);  // every second time, after one that showed that the two fit
  CHECK(apart == 10);
  auto& trials = *chain.first.plan.pair_trials;
  CHECK(trials.of({add_one, add_one, &chain.second.plan})->is_over());
}

TEST_CASE("in a chain of statements those wait that save more together with the next one") {
  // The first statement saves less with the second one, which reads v at once: v is then stored
  // through the caches, which read its lines first. The second statement's target w is not touched
  // by the next step's first statement.
  Chain chain;
  for (int step = 0; step < 2; ++step) {
    chain.run(chain.first);
    chain.run(chain.second);
  }
  calls().clear();

  chain.run(chain.first);
  CHECK(calls() == Calls{"2:0-64", "1:0-64"});
  chain.run(chain.second);
  CHECK(calls().size() == 2);
  chain.run(chain.first);
  CHECK(calls().size() == 2 + 32);
}

TEST_CASE("a worker runs two tasks together if the second one is there already") {
  Cells u{}, v{}, w{};
  AddOne first(1, v.data(), u.data(), 0, rows);
  AddOne second(2, w.data(), v.data(), 0, rows);
  TaskRunner runner(always_in_bands_of(3));
  first.task.runner = second.task.runner = &runner;
  calls().clear();
  {
    Worker worker([](std::exception_ptr const&) { FAIL("no task fails"); });
    runner.work_for(worker);
    std::atomic<bool> go = false;
    auto wait = [&go] {
      while (!go) std::this_thread::yield();
    };
    worker.post({[](void* record) { (*static_cast<decltype(wait)*>(record))(); }, &wait});
    auto const run = [](void* record) {
      auto& task = *static_cast<DeviceTask*>(record);
      task.runner->run(task);
    };
    worker.post({run, &first.task});
    worker.post({run, &second.task});
    go = true;
  }
  CHECK(calls() == Calls{"1:0-3", "2:0-3", "1:3-6", "2:3-6"});
  CHECK_FALSE(second.task.is_done);
}

TEST_SUITE_END();
