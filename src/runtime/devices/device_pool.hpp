#pragma once
/// @file
/// The devices that this process drives, and the waits for what they were given.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tessera/device/device_kind.hpp"

#include "src/device/communicator.hpp"
#include "src/device/host_memory.hpp"
#include "src/device/queue.hpp"
#include "src/device/worker.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/queue_context.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/execution/task_runner.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"
#include "src/runtime/statements/statement_log.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// The devices that a process drives.
struct LocalDevices {
  std::int64_t count = 1;
  DeviceKind kind = DeviceKind::cpu;
  std::vector<std::shared_ptr<Queue>> queues;  ///< one per device
  GivenCommunicators communicators;            ///< as RuntimeOptions
};

/// Holds what belongs to one local device.
struct DeviceContext {
  DeviceContext(DeviceId id, std::shared_ptr<Queue> queue, PairOptions const& pairs)
      : device(id), queue_context(std::move(queue)), runner(pairs) {}

  DeviceId device;
  Waiter* waiter = nullptr;
  std::deque<DeviceTask> tasks;  ///< as many as the worker's ring holds; without one, two
  QueueContext queue_context;
  TaskRunner runner;
  DeviceMemory scratch;            ///< for the temporaries of the plan that needs the most
  HostMemory accumulator;          ///< of a reduction
  std::unique_ptr<Worker> worker;  ///< none where the only device runs on the caller's thread

  [[nodiscard]] std::shared_ptr<Queue> const& queue() const { return queue_context.queue; }
  [[nodiscard]] bool is_idle() const { return worker == nullptr || worker->idle(); }
};

/// The contexts of all local devices, by local index.
///
/// Threads: the caller's; the failure of a worker becomes that of the process at once.
class DevicePool {
 public:
  /// A collective over the job. Throws: ConfigError alike on every process, if any of them cannot
  /// make its devices.
  DevicePool(Bootstrap& bootstrap, Job const& job, Network& network, StatementLog const& log,
             LocalDevices const& devices);
  DevicePool(DevicePool const&) = delete;
  DevicePool& operator=(DevicePool const&) = delete;

  /// Ends all workers, then waits for the queues: nothing that they use is used any more. Called
  /// once, before anything else of the runtime ends.
  void stop() noexcept;

  [[nodiscard]] DeviceKind kind() const { return kind_; }
  /// Returns the traits of the queues, which are the same for all devices.
  [[nodiscard]] QueueTraits const& traits() const { return contexts_.front().queue()->traits(); }
  [[nodiscard]] std::deque<DeviceContext>& contexts() { return contexts_; }
  [[nodiscard]] std::deque<DeviceContext> const& contexts() const { return contexts_; }
  [[nodiscard]] DeviceContext const& context(DeviceId device) const {
    return contexts_[index_of(device)];
  }
  [[nodiscard]] std::size_t index_of(DeviceId device) const {
    return static_cast<std::size_t>(job_.local_index(device));
  }
  /// Returns the devices as arrays know them.
  [[nodiscard]] std::vector<LocalDevice> const& devices() const { return devices_; }
  [[nodiscard]] std::vector<QueueContext*> queue_contexts();

  /// A free task of a device. Waits where its ring is full.
  [[nodiscard]] DeviceTask& free_task(DeviceContext& context);
  /// Runs a task: with one local device at once, but for a kernel that waits for the next task;
  /// else on the device's worker.
  static void start(DeviceContext& context, DeviceTask& task);
  /// Forgets kernels that wait for the next task, after a failure.
  void drop_waiting() noexcept;

  /// True if no worker has anything to do.
  [[nodiscard]] bool are_idle() const;
  /// Returns when the messages of all statements so far have been sent and received; a kernel may
  /// still wait for the next task.
  /// Throws: PeerFailed, Mismatch, and whatever failed before.
  void drain_messages();
  /// The same, and no kernel waits; queues that are not eager go on. Throws: as drain_messages, and
  /// what a kernel throws.
  void finish_messages();
  /// Returns when all statements so far have been carried out. Throws: as finish_messages.
  void synchronize();

  /// Allocates the scratch memory that a plan needs. Waits for the statements so far if there is
  /// too little. Throws: DeviceError, and as synchronize.
  void make_room(CompiledStatement const& plan);
  /// Allocates the memory for the devices' accumulators of a reduction.
  void make_room(Reduction const& reduction);

 private:
  void add(std::int64_t index, std::shared_ptr<Queue> const& queue, PairOptions const& pairs);
  void add_worker(DeviceContext& context, std::int64_t index);
  void wait_for_workers();
  void wait_for_queues();
  void finish_waiting();

  Job const& job_;
  Network& network_;
  StatementLog const& log_;
  DeviceKind kind_;
  std::deque<DeviceContext> contexts_;
  std::vector<LocalDevice> devices_;
};

}  // namespace tessera
