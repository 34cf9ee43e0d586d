#pragma once
/// @file
/// Messages between two GPUs of one process.

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "tessera/device/device_memory.hpp"

namespace tessera {

/// The way from one GPU to another: two slots in the memory of the one that receives, each with an
/// event that stands behind its last writing and one behind its last reading. The GPUs wait for
/// these; the host waits for neither. The pair's channel says on the host that work has been
/// brought, so each event is waited for before it is recorded again.
///
/// Threads: `put` is the sender's, `taken` the receiver's; the rest is set while both have nothing
/// to do.
struct GpuLane {
  std::shared_ptr<GpuStream> from;
  std::shared_ptr<GpuStream> to;
  bool is_direct = false;  ///< kernels of `from` store into the slots
  std::array<DeviceMemory, 2> slots;
  std::array<std::unique_ptr<GpuEvent>, 2> filled;
  std::array<std::unique_ptr<GpuEvent>, 2> drained;
  std::uint64_t put = 0;
  std::uint64_t taken = 0;

  GpuLane(std::shared_ptr<GpuStream> sender, std::shared_ptr<GpuStream> receiver)
      : from(std::move(sender)), to(std::move(receiver)), is_direct(from->stores_to(*to)) {
    for (auto& event : filled) event = from->make_event();
    for (auto& event : drained) event = to->make_event();
  }

  /// Makes the slots at least so long. New memory is `to`'s to begin with: the sender waits.
  void grow(std::int64_t size_bytes) {
    for (std::size_t which = 0; which < slots.size(); ++which) {
      slots[which] = DeviceMemory(size_bytes, to);
      to->record(*drained[which]);
    }
  }
};

}  // namespace tessera
