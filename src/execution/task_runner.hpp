#pragma once
/// @file
/// Runs the tasks of one device in order, and computes two consecutive statements in one pass over
/// memory where that is faster.

#include <optional>

#include "src/device/worker.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/pair.hpp"
#include "src/execution/pairs/pair_options.hpp"

namespace tessera {

/// On a worker, the runner looks at the next task in the ring: if there is one and the two can be
/// paired, both run together. On the caller's thread the next task is not known yet. There the
/// kernel of a statement waits for the next task if it could be paired with its follower last time;
/// its messages do not wait.
///
/// Threads: the device's thread.
class TaskRunner {
 public:
  explicit TaskRunner(PairOptions const& options) : options_(options) {}
  TaskRunner(TaskRunner const&) = delete;
  TaskRunner& operator=(TaskRunner const&) = delete;

  /// From now on, `run` is called by this worker. All records in its ring are DeviceTasks.
  void work_for(Worker const& worker) { worker_ = &worker; }

  /// Runs a task. Without a worker, the kernel of a task that outlives its statement waits for the
  /// next call of `run` or `finish`. The caller leaves the previous task unchanged until this
  /// returns. Throws: what `execute` throws, for the task that waits or for this one.
  void run(DeviceTask& task);
  /// Runs the kernel that waits, if there is one. Throws: what that kernel throws.
  void finish() {
    if (last_ != nullptr) finish_last();
  }
  /// Discards the kernel that waits, after a failure.
  void drop() noexcept;

  /// True if statements with this plan may be paired; their tasks have to keep the plan alive.
  [[nodiscard]] bool may_pair(DevicePlan const& plan) const {
    return plan.pair_bytes > options_.least_bytes;
  }
  /// True if the kernel of such a statement should wait for the next task.
  [[nodiscard]] bool would_wait(DevicePlan const& plan, KernelForms const& forms) const {
    return options_.is_forced() || plan.pair_trials->expects_follower(forms.unit_stride);
  }
  /// The previous task if it may be paired with the next one, so that its slot is not free yet;
  /// else null.
  [[nodiscard]] DeviceTask const* last() const { return last_; }

 private:
  [[nodiscard]] bool may_pair(DeviceTask const& task) const {
    return task.kind == DeviceTask::Kind::statement && task.accumulator == nullptr &&
           task.overlaps && may_pair(*task.plan);
  }
  [[nodiscard]] Trial* trial_of(DeviceTask const& first, DeviceTask const& second) const;
  [[nodiscard]] std::optional<Pair> pair_with(DeviceTask const& first,
                                              DeviceTask const& second) const;
  [[nodiscard]] std::optional<Pair> note_pair(DeviceTask const& before,
                                              DeviceTask const& task) const;
  [[nodiscard]] bool saves_more_with_previous(DeviceTask const& before,
                                              DeviceTask const& task) const;
  void run_after_previous(DeviceTask& task);
  void run_with_next(DeviceTask& task);
  void run_pair(DeviceTask& first, DeviceTask& second, Pair const& pair) const;
  void finish_last();

  PairOptions options_;
  Worker const* worker_ = nullptr;
  DeviceTask* last_ = nullptr;
  bool kernel_waits_ = false;  ///< the kernel of `last_` has not run yet
};

}  // namespace tessera
