#pragma once
/// @file
/// The arrays of a loop, before it runs on this process's devices and after.

#include <cstddef>

#include "tessera/base/ids.hpp"

#include "src/execution/loop.hpp"
#include "src/execution/run_loop.hpp"

namespace tessera {

/// The arguments with which a device runs the loop; `index` is its position among the local
/// devices. Copies cells to an array's other buffer where the loop expects the two buffers to be
/// equal. No worker may be busy.
[[nodiscard]] LoopArguments arguments_of(LoopRun const& run, DeviceId device, std::size_t index);

/// Records the state after a loop: which buffers are current, where they differ, and that no ghost
/// cells are valid. No worker may be busy.
void note_effects(LoopRun const& run);

}  // namespace tessera
