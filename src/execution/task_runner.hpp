#pragma once
/// @file
/// Runs the tasks of one device in order, two statements in one pass over memory where that is
/// faster.

#include <optional>

#include "src/device/worker.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/pair.hpp"
#include "src/execution/pairs/pair_options.hpp"

namespace tessera {

/// A worker looks at the next task in its ring: if that one is there and fits, both run together.
/// On the caller's thread there is no next task yet. There the kernel of a statement waits for the
/// next task, if the statement that followed it last time fitted; its messages do not wait.
///
/// Threads: the device's.
class TaskRunner {
 public:
  explicit TaskRunner(PairOptions const& options) : options_(options) {}
  TaskRunner(TaskRunner const&) = delete;
  TaskRunner& operator=(TaskRunner const&) = delete;

  /// From now on the tasks are those of this worker, whose records are all tasks.
  void work_for(Worker const& worker) { worker_ = &worker; }

  /// Runs a task. Without a worker, the kernel of a task that outlives its statement waits for the
  /// next call of this or of `finish`. The task before it stays unchanged until this returns.
  /// Throws: what `execute` throws, for the task that waits or for this one.
  void run(DeviceTask& task);
  /// Runs the kernel that waits, if there is one. Throws: what it throws.
  void finish() {
    if (last_ != nullptr) forget_last();
  }
  /// Forgets the kernel that waits, after a failure.
  void drop() noexcept;

  /// True if statements of a plan may be one of a pair, so that their tasks keep the plan alive.
  [[nodiscard]] bool watches(DevicePlan const& plan) const {
    return plan.pair_bytes > options_.least_bytes;
  }
  /// True if the kernel of such a statement had better wait for the next task.
  [[nodiscard]] bool would_wait(DevicePlan const& plan, KernelForms const& forms) const {
    return options_.is_forced() || plan.pair_trials->expects_follower(forms.unit_stride);
  }
  /// The task that came last, if the next one may be its follower: its place is not free.
  [[nodiscard]] DeviceTask const* last() const { return last_; }

 private:
  [[nodiscard]] bool watches(DeviceTask const& task) const {
    return task.kind == DeviceTask::Kind::statement && task.accumulator == nullptr &&
           watches(*task.plan);
  }
  [[nodiscard]] Trial* trial_of(DeviceTask const& first, DeviceTask const& second) const;
  [[nodiscard]] std::optional<Pair> pair_with(DeviceTask const& first,
                                              DeviceTask const& second) const;
  [[nodiscard]] std::optional<Pair> note_pair(DeviceTask const& before,
                                              DeviceTask const& task) const;
  [[nodiscard]] bool fits_better(DeviceTask const& before, DeviceTask const& task) const;
  void run_watched(DeviceTask& task);
  void run_with_next(DeviceTask& task);
  void run_pair(DeviceTask& first, DeviceTask& second, Pair const& pair) const;
  void forget_last();

  PairOptions options_;
  Worker const* worker_ = nullptr;
  DeviceTask* last_ = nullptr;
  bool waits_ = false;  ///< the kernel of the last task
};

}  // namespace tessera
