#include "src/execution/task_runner.hpp"

#include <chrono>
#include <utility>

#include "src/execution/compute.hpp"

namespace tessera {
namespace {

bool are_stores_settled(DeviceTask const& task) {
  auto const* const trial = store_trial_of(task);
  return trial == nullptr || trial->is_over();
}

// The first one's messages and copies are done, and the second one's as well.
void compute_in_one_pass(DeviceTask& first, DeviceTask& second, Pair const& pair) {
  if (first.timer == nullptr) {
    compute_pair(first, second, pair);
    return;
  }
  first.timer->begin(first.row);
  auto const times = compute_pair(first, second, pair);
  first.timer->end_of_two_kernels(second.row, times.first_ns);
}

}  // namespace

void TaskRunner::run(DeviceTask& task) {
  if (task.is_done) {  // only on a worker
    task.is_done = false;
    return;
  }
  if (!watches(task)) {
    finish();
    execute(task);
  } else if (worker_ != nullptr) {
    run_with_next(task);
  } else {
    run_watched(task);
  }
}

Trial* TaskRunner::trial_of(DeviceTask const& first, DeviceTask const& second) const {
  return first.plan->pair_trials->of(
      {first.forms.unit_stride, second.forms.unit_stride, second.plan});
}

std::optional<Pair> TaskRunner::pair_with(DeviceTask const& first, DeviceTask const& second) const {
  if (!watches(second)) return std::nullopt;
  if (!options_.is_forced() && !(are_stores_settled(first) && are_stores_settled(second)))
    return std::nullopt;
  return pair_of(first, second, options_);
}

// How the statement before goes with this one. Notes it, for the next time that statement comes.
std::optional<Pair> TaskRunner::note_pair(DeviceTask const& before, DeviceTask const& task) const {
  auto const pair = pair_with(before, task);
  before.plan->pair_trials->note_follower(
      before.forms.unit_stride, pair ? trial_of(before, task) : nullptr, pair ? pair->saving : 0);
  return pair;
}

// Of statements that fit in a chain, those wait that save most together with the next one.
bool TaskRunner::fits_better(DeviceTask const& before, DeviceTask const& task) const {
  auto const& earlier = *before.plan->pair_trials;
  return !options_.is_forced() && earlier.expects_follower(before.forms.unit_stride) &&
         earlier.expected_saving() > task.plan->pair_trials->expected_saving();
}

void TaskRunner::run_watched(DeviceTask& task) {
  auto* const before = std::exchange(last_, nullptr);
  bool const before_waits = std::exchange(waits_, false);
  auto const pair = before == nullptr ? std::nullopt : note_pair(*before, task);
  bool const waits = task.outlives_statement && !(pair && fits_better(*before, task));
  if (before_waits && pair)
    run_pair(*before, task, *pair);
  else if (before_waits)
    end_statement(*before);
  if (before != nullptr) before->let_go();
  if (!(before_waits && pair)) {
    if (waits)
      begin_statement(task);
    else
      execute_statement(task);
    waits_ = waits;
  }
  if (!waits_) task.keeps.clear();
  last_ = &task;
}

void TaskRunner::run_with_next(DeviceTask& task) {
  auto const* const item = worker_->upcoming();
  auto* const next = item == nullptr ? nullptr : static_cast<DeviceTask*>(item->record);
  begin_statement(task);
  auto const pair = next == nullptr ? std::nullopt : pair_with(task, *next);
  if (pair) {
    run_pair(task, *next, *pair);
    next->let_go();
    next->is_done = true;
  } else {
    end_statement(task);
  }
  task.let_go();
}

void TaskRunner::run_pair(DeviceTask& first, DeviceTask& second, Pair const& pair) const {
  begin_statement(second);
  if (options_.is_forced()) return compute_in_one_pass(first, second, pair);
  using Clock = std::chrono::steady_clock;
  auto* const trial = trial_of(first, second);
  auto const begin = Clock::now();
  if (trial != nullptr && trial->takes_second()) {
    compute_in_one_pass(first, second, pair);
  } else {
    end_statement(first);
    end_statement(second);
  }
  if (trial != nullptr) trial->add(Clock::now() - begin);
}

void TaskRunner::forget_last() {
  auto& before = *std::exchange(last_, nullptr);
  if (std::exchange(waits_, false)) end_statement(before);
  before.plan->pair_trials->note_follower(before.forms.unit_stride, nullptr);
  before.let_go();
}

void TaskRunner::drop() noexcept {
  waits_ = false;
  if (last_ != nullptr) std::exchange(last_, nullptr)->let_go();
}

}  // namespace tessera
