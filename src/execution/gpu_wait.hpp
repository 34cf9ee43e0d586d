#pragma once
/// @file
/// Waits of the host for the GPU of a task.

#include "src/execution/device_task.hpp"

namespace tessera {

/// Waits until the GPU has passed an event. Throws: PeerFailed, Mismatch, DeviceError.
void wait_until_passed(DeviceTask& task, GpuEvent& event);
/// Waits until the GPU has done all work so far. Throws: as wait_until_passed.
void wait_for_gpu(DeviceTask& task);
/// Waits until what the task's communicator has begun last lies in its queue.
/// Throws: PeerFailed, Mismatch, DeviceError.
void wait_for_communicator(DeviceTask& task);

}  // namespace tessera
