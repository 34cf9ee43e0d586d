#pragma once
/// @file
/// The arrays of a loop, before it runs on this process's devices and after.

#include <cstddef>

#include "tessera/base/ids.hpp"
#include "tessera/exchange/loop.hpp"

#include "run_loop.hpp"

namespace tessera {

/// What a device needs to run the loop; `index` is its place among the local ones. Where the two
/// buffers of an array are to be equal outside of where the loop expects them to differ, its other
/// one takes the cells. No worker may be busy.
[[nodiscard]] LoopArguments arguments_of(LoopRun const& run, DeviceId device, std::size_t index);

/// Notes what a loop leaves: which buffers are current, where they differ, and no fresh ghost
/// cells. No worker may be busy.
void note_effects(LoopRun const& run);

}  // namespace tessera
