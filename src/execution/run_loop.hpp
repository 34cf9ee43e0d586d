#pragma once
/// @file
/// The loop itself, on one device's thread.

#include <array>
#include <cstddef>
#include <vector>

#include "src/execution/device_task.hpp"
#include "src/execution/loop.hpp"

namespace tessera {

/// The two buffers of an array on one device: first the one that holds its cells.
using BufferPair = std::array<std::byte*, 2>;

/// The inputs of a device beside the loop; the caller's thread fills them in.
struct LoopArguments {
  LoopRun const* run = nullptr;
  std::size_t index = 0;            ///< of the device among the local ones
  std::vector<BufferPair> buffers;  ///< per array
  std::vector<std::byte*> scalars;  ///< the device's copies
};

/// Runs all blocks; `task` provides the waiter, the tag and the scratch lists.
/// Throws: PeerFailed, Mismatch, and what a kernel throws.
void run_loop(DeviceTask& task, LoopArguments& arguments);

}  // namespace tessera
