#pragma once
/// @file
/// Messages between two GPUs that both reach memory of one of them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/device/queue.hpp"
#include "src/transport/channel/channel.hpp"

namespace tessera {

/// The length of new slots between processes, which earlier slots of `before` bytes are too short
/// for: at least twice as long, so that all earlier memory together is no longer than theirs, and a
/// multiple of 1 MiB, since shared memory comes in such steps anyway.
[[nodiscard]] constexpr std::int64_t grown_slot_bytes(std::int64_t before, std::int64_t bytes) {
  constexpr std::int64_t step = std::int64_t{1} << 20;
  auto const wanted = bytes > 2 * before ? bytes : 2 * before;
  return (wanted + step - 1) / step * step;
}

/// The channel from one GPU to another: two slots in the memory of the receiver. Each slot has two
/// events: one recorded after its last write, one after its last read. The GPUs wait for these
/// events; the host waits for neither. The pair's host channel announces that work has been
/// submitted, so each event is awaited before it is recorded again.
///
/// For a channel between processes, each process has one of these objects and uses one half of it.
///
/// Threads: `put` is the sender's, `taken` the receiver's; the rest is set while both have nothing
/// to do.
struct GpuPeerChannel {
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
