#pragma once
/// @file
/// What a device that is a GPU has of its own.

#include <memory>
#include <utility>

#include "tessera/device/device_memory.hpp"

namespace tessera {

/// Memory, streams and events of one device. Threads: its worker's; while that has nothing to do,
/// the caller's.
struct GpuSide {
  explicit GpuSide(std::shared_ptr<GpuStream> made)
      : stream(std::move(made)), event(stream->make_event()), unstaged(stream->make_event()) {}

  /// Throws: DeviceError where the group has failed, of which the streams know nothing.
  void check_group() {
    if (group != nullptr) (void)group->is_ready();
  }

  // Of the host, pinned; outlive the streams' work.
  std::unique_ptr<GpuRegion> staging;  ///< messages that go through the host, as in `messages`
  std::unique_ptr<GpuRegion> parts;    ///< of a reduction

  std::shared_ptr<GpuStream> stream;
  std::unique_ptr<GpuEvent> event;      ///< for waits of the host
  std::unique_ptr<GpuEvent> unstaged;   ///< behind the last copies from `staging`
  std::unique_ptr<GpuRegion> messages;  ///< as long as all that one statement sends and receives
  DeviceMemory accumulators;            ///< parts of a reduction

  // Where devices send by their group, which works beside the kernels.
  std::shared_ptr<GpuStream> wires;
  std::unique_ptr<GpuGroup> group;
  std::unique_ptr<GpuEvent> packed;   ///< what the group sends is ready, and its room is free
  std::unique_ptr<GpuEvent> arrived;  ///< what it receives has come
};

}  // namespace tessera
