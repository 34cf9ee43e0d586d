#pragma once
/// @file
/// The per-device state of a GPU.

#include <memory>
#include <utility>

#include "src/device/device_memory.hpp"

namespace tessera {

/// Memory, streams and events of one device. Threads: its worker's; while that has nothing to do,
/// the caller's.
struct GpuContext {
  explicit GpuContext(std::shared_ptr<GpuStream> made)
      : stream(std::move(made)), event(stream->make_event()), unstaged(stream->make_event()) {}

  /// Throws: DeviceError if the GPU communicator has failed, which the streams do not report.
  void check_group() {
    if (group != nullptr) (void)group->is_ready();
  }

  // Of the host, pinned; outlive the streams' work.
  std::unique_ptr<DeviceBuffer> staging;  ///< messages that go through the host, as in `messages`
  std::unique_ptr<DeviceBuffer> parts;    ///< of a reduction

  std::shared_ptr<GpuStream> stream;
  std::unique_ptr<GpuEvent> event;         ///< for waits of the host
  std::unique_ptr<GpuEvent> unstaged;      ///< behind the last copies from `staging`
  std::unique_ptr<DeviceBuffer> messages;  ///< large enough for all messages of one statement
  DeviceMemory accumulators;               ///< parts of a reduction

  // The stream of the GPU communicator, which works in parallel to the kernels.
  std::shared_ptr<GpuStream> comm_queue;
  std::unique_ptr<GpuCommunicator> group;
  std::unique_ptr<GpuEvent> packed;   ///< messages are packed, and receive buffers are free
  std::unique_ptr<GpuEvent> arrived;  ///< messages have been received
};

}  // namespace tessera
