#pragma once
/// @file
/// One statement on one device, with everything that changes from run to run filled in.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/base/detail.hpp"
#include "src/device/host_memory.hpp"
#include "src/execution/compiled_statement.hpp"
#include "src/execution/phase_timer.hpp"
#include "src/execution/queue_context.hpp"
#include "src/execution/tree_reduction.hpp"
#include "src/statement/statement.hpp"
#include "src/transport/protocol/waiter.hpp"

namespace tessera {

class TaskRunner;

/// Cells that go from one buffer of a shard to the other, where they lie alike.
struct Carry {
  StridedBlock block;
  std::byte const* from = nullptr;
  std::byte* to = nullptr;
};

/// Preallocated: filling one in and running it allocates nothing once its vectors have grown.
///
/// Threads: written by the caller's thread while the slot is free, then the worker's until it is
/// done.
struct DeviceTask {
  enum class Kind : std::uint8_t { statement, call };
  Kind kind = Kind::statement;
  StatementTag tag;
  DeviceId device;
  Waiter* waiter = nullptr;
  Queue* queue = &host_queue();     ///< of the device
  QueueContext* context = nullptr;  ///< of the same queue
  TaskRunner* runner = nullptr;     ///< of the device

  /// The task runs on this queue.
  void run_on(QueueContext& of_device) {
    context = &of_device;
    queue = of_device.queue.get();
  }

  /// False if the task runs at once on the caller's thread, and whole: then the statement keeps its
  /// arrays alive.
  bool outlives_statement = true;
  /// True once it has run together with the one before it, so that nothing is left to do.
  bool is_done = false;
  /// False if none of its messages may be under way while it computes, nor the task run together
  /// with another one.
  bool overlaps = true;
  std::shared_ptr<CompiledStatement> compiled;  ///< keeps `plan` alive
  DevicePlan const* plan = nullptr;
  KernelForms forms;
  std::int64_t step = 0;  ///< of the loop
  HostMemory kernel;      ///< a copy of the statement's
  std::int64_t kernel_bytes = 0;
  std::int64_t copied_bytes = 0;    ///< of an element, if the kernel only copies; else 0
  std::vector<std::byte*> buffers;  ///< read: one for each of the plan's
  std::vector<std::byte const*> scalars;
  std::vector<std::byte*> targets;  ///< written: one for each of the plan's writes
  std::byte* scratch = nullptr;
  std::vector<Carry> carry;  ///< untouched cells
  Reduction reduction;
  std::byte* accumulator = nullptr;
  std::byte* result = nullptr;
  TreeLinks* tree = nullptr;
  std::vector<std::shared_ptr<void>> keeps;  ///< arrays and scalars that the task names

  std::function<void(DeviceTask&)> const* call = nullptr;

  /// Keeps an array or a scalar alive until it has run.
  void keep(ArrayModel& named) {
    if (outlives_statement) keeps.push_back(named.shared());
  }
  void keep(std::shared_ptr<ScalarModel> const& named) {
    if (outlives_statement) keeps.push_back(named);
  }

  /// Names nothing any more that it keeps alive.
  void let_go() {
    keeps.clear();
    compiled.reset();
  }

  PhaseTimer* timer = nullptr;  ///< null if timing is off
  std::size_t row = 0;          ///< of the phase timer
};

/// Adds the time since the last call to a phase, where somebody looks.
inline void note_phase(DeviceTask& task, Phase phase) {
  if (task.timer != nullptr) task.timer->end_of(phase);
}

/// The memory from which a block's offset counts.
[[nodiscard]] inline std::byte* base_of(DeviceTask const& task, Storage storage,
                                        std::size_t buffer) {
  if (storage == Storage::target) return task.targets[buffer];
  return storage == Storage::shard ? task.buffers[buffer] : task.scratch;
}

/// Runs a task on its device's thread.
/// Throws: PeerFailed, Mismatch, DeviceError, and what a kernel throws.
void execute(DeviceTask& task);

/// The same for a statement, and leaves alone what the task keeps alive.
void execute_statement(DeviceTask& task);
/// The same in two halves: what brings cells to where the kernel reads them, and all that follows.
/// In between no other device depends on this one.
void begin_statement(DeviceTask& task);
void end_statement(DeviceTask& task);

/// Carries out only the first part of a statement: sends, receives and copies what the task's
/// plan says.
/// Throws: PeerFailed, Mismatch, DeviceError.
void exchange_cells(DeviceTask& task);
/// True if the channels hold whole messages. Then `exchange_cells` may be called in two halves,
/// send_cells and receive_cells, between which the device may change its own cells.
[[nodiscard]] bool channels_hold_messages(DevicePlan const& plan);
void send_cells(DeviceTask& task);
void receive_cells(DeviceTask& task);

}  // namespace tessera
