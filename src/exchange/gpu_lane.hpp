#pragma once
/// @file
/// Messages between two GPUs that both reach memory of one of them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/device/gpu.hpp"
#include "tessera/transport/channel.hpp"

namespace tessera {

/// The way from one GPU to another: two slots in the memory of the one that receives, each with an
/// event that stands behind its last writing and one behind its last reading. The GPUs wait for
/// these; the host waits for neither. The pair's channel says on the host that work has been
/// brought, so each event is waited for before it is recorded again.
///
/// Of a lane between processes each has one of these, and uses one half of it.
///
/// Threads: `put` is the sender's, `taken` the receiver's; the rest is set while both have nothing
/// to do.
struct GpuLane {
  Route route = Route::peer;
  bool is_direct = false;       ///< kernels of the sender store into the slots
  std::int64_t slot_bytes = 0;  ///< 0 before there are slots
  std::array<std::byte*, 2> slots{};
  std::array<std::unique_ptr<GpuEvent>, 2> filled;
  std::array<std::unique_ptr<GpuEvent>, 2> drained;
  std::uint64_t put = 0;
  std::uint64_t taken = 0;
  std::shared_ptr<void> keeps;  ///< the slots' memory
};

}  // namespace tessera
