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

// Computes both kernels; the messages and copies of both statements are done.
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
  if (task.is_done) {  // it ran together with the previous task; only on a worker
    task.is_done = false;
    return;
  }
  if (!may_pair(task)) {
    finish();
    execute(task);
  } else if (worker_ != nullptr) {
    run_with_next(task);
  } else {
    run_after_previous(task);
  }
}

Trial* TaskRunner::trial_of(DeviceTask const& first, DeviceTask const& second) const {
  return first.plan->pair_trials->of(
      {first.forms.unit_stride, second.forms.unit_stride, second.plan});
}

std::optional<Pair> TaskRunner::pair_with(DeviceTask const& first, DeviceTask const& second) const {
  if (!may_pair(second)) return std::nullopt;
  if (!options_.is_forced() && !(are_stores_settled(first) && are_stores_settled(second)))
    return std::nullopt;
  return pair_of(first, second, options_);
}

// How the two can be paired. Notes it for the next run of the statement of `before`.
std::optional<Pair> TaskRunner::note_pair(DeviceTask const& before, DeviceTask const& task) const {
  auto const pair = pair_with(before, task);
  before.plan->pair_trials->note_follower(
      before.forms.unit_stride, pair ? trial_of(before, task) : nullptr, pair ? pair->saving : 0);
  return pair;
}

// True if pairing with `before` saves more than pairing with the next statement is expected to. In
// a chain, where every statement can be paired with the next one, `task` then does not wait.
bool TaskRunner::saves_more_with_previous(DeviceTask const& before, DeviceTask const& task) const {
  auto const& earlier = *before.plan->pair_trials;
  return !options_.is_forced() && earlier.expects_follower(before.forms.unit_stride) &&
         earlier.expected_saving() > task.plan->pair_trials->expected_saving();
}

void TaskRunner::run_after_previous(DeviceTask& task) {
  auto* const before = std::exchange(last_, nullptr);
  bool const previous_waits = std::exchange(kernel_waits_, false);
  auto const pair = before == nullptr ? std::nullopt : note_pair(*before, task);
  bool const waits = task.outlives_statement && !(pair && saves_more_with_previous(*before, task));
  if (previous_waits && pair)
    run_pair(*before, task, *pair);
  else if (previous_waits)
    end_statement(*before);
  if (before != nullptr) before->let_go();
  if (!(previous_waits && pair)) {
    if (waits)
      begin_statement(task);
    else
      execute_statement(task);
    kernel_waits_ = waits;
  }
  if (!kernel_waits_) task.keeps.clear();
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

void TaskRunner::finish_last() {
  auto& before = *std::exchange(last_, nullptr);
  if (std::exchange(kernel_waits_, false)) end_statement(before);
  before.plan->pair_trials->note_follower(before.forms.unit_stride, nullptr);
  before.let_go();
}

void TaskRunner::drop() noexcept {
  kernel_waits_ = false;
  if (last_ != nullptr) std::exchange(last_, nullptr)->let_go();
}

}  // namespace tessera
