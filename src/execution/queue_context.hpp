#pragma once
/// @file
/// What goes with the queue of a device.

#include <memory>
#include <utility>

#include "src/device/communicator.hpp"
#include "src/device/device_memory.hpp"
#include "src/device/queue.hpp"

namespace tessera {

/// The queue of one device, with memory and events for messages and reductions: most of it is made
/// when a plan first needs it, which is never where the host reaches the device's memory. Threads:
/// its worker's; while that has nothing to do, the caller's.
struct QueueContext {
  explicit QueueContext(std::shared_ptr<Queue> made)
      : queue(std::move(made)), event(queue->make_event()), unstaged(queue->make_event()) {}

  /// Throws: DeviceError if the GPU communicator has failed, which the queues do not report.
  void check_group() {
    if (group != nullptr) (void)group->is_ready();
  }

  // Pinned memory of the host; it outlives the queues' work.
  std::unique_ptr<DeviceBuffer> staging;  ///< messages that go through the host, as in `messages`
  std::unique_ptr<DeviceBuffer> parts;    ///< of a reduction

  std::shared_ptr<Queue> queue;
  std::unique_ptr<GpuEvent> event;         ///< for waits of the host
  std::unique_ptr<GpuEvent> unstaged;      ///< behind the last copies from `staging`
  std::unique_ptr<DeviceBuffer> messages;  ///< large enough for all messages of one statement
  DeviceMemory accumulators;               ///< parts of a reduction

  // The queue of the GPU communicator, which works in parallel to the kernels.
  std::shared_ptr<Queue> communication_queue;
  std::unique_ptr<GpuCommunicator> group;
  std::unique_ptr<GpuEvent> packed;   ///< messages are packed, and receive buffers are free
  std::unique_ptr<GpuEvent> arrived;  ///< messages have been received
};

}  // namespace tessera
