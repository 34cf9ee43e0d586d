#pragma once
/// @file
/// Gives statements and calls to the local devices.

#include <cstddef>
#include <functional>
#include <memory>

#include "src/execution/buffer_swap.hpp"
#include "src/execution/compiled_statement.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/reduction_tree.hpp"
#include "src/plan/loop_variables.hpp"
#include "src/runtime/devices/device_pool.hpp"
#include "src/runtime/profiler/profiler.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// A statement that is ready to run.
struct ReadyStatement {
  Statement const& statement;
  std::shared_ptr<CompiledStatement> const& plan;
  StatementTag const& tag;
  std::size_t row = 0;   ///< of the profiler
  bool is_step = false;  ///< of an operation
};

/// Fills in tasks, which then run on the devices' workers, or at once with one local device.
///
/// Threads: the caller's.
class Dispatcher {
 public:
  Dispatcher(DevicePool& devices, ReductionTrees& trees, Profiler& profiler)
      : devices_(devices), trees_(trees), profiler_(profiler) {}

  /// Throws: KernelNotBuilt, alike on every process, for a statement that no GPU of this process
  ///         could compute.
  void check_kernel(Statement const& statement) const;
  /// Gives each device its part of a statement, if it has one.
  void post(ReadyStatement const& ready);
  /// True if messages of a statement need calls of this thread to move.
  [[nodiscard]] bool needs_this_thread(Statement const& statement,
                                       CompiledStatement const& plan) const;
  /// Runs `call` on every device; it lives until they have been waited for.
  void post_to_all(std::function<void(DeviceTask&)> const& call, StatementTag const& tag);
  /// Runs `call` on the first device alone, which has the links to other processes.
  void post_to_first(std::function<void(DeviceTask&)> const& call, StatementTag const& tag);

 private:
  void post(DeviceContext& context, DevicePlan const& plan, ReadyStatement const& ready);
  void post_call(DeviceContext& context, std::function<void(DeviceTask&)> const& call,
                 StatementTag const& tag, TreeLinks* tree);
  DeviceTask& begin_task(DeviceContext& context, DeviceTask::Kind kind, StatementTag const& tag);
  void name_operands(DeviceTask& task, Statement const& statement, DevicePlan const& plan) const;
  void name_result(DeviceTask& task, DeviceContext& context, Statement const& statement);

  DevicePool& devices_;
  ReductionTrees& trees_;
  Profiler& profiler_;
  Targets targets_;
  bool steps_overlap_ = steps_overlap();  ///< of operations
};

}  // namespace tessera
