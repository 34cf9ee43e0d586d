#pragma once
/// @file
/// The queue of a GPU of CUDA.

#include <memory>

#include "src/device/queue.hpp"

namespace tessera::cuda {

/// A queue with a stream of its own. Throws: DeviceError.
[[nodiscard]] std::shared_ptr<Queue> make_queue(int gpu);

}  // namespace tessera::cuda
