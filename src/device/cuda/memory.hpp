#pragma once
/// @file
/// Memory of CUDA's GPUs and of the host beside them.

#include <cstdint>
#include <memory>

#include "src/device/queue.hpp"

namespace tessera::cuda {

/// How many GPUs the process may use; 0 without a driver.
[[nodiscard]] int count_gpus();

/// Whether a GPU reads and writes memory of another one. Throws: DeviceError.
[[nodiscard]] bool can_reach(int gpu, int other);

/// Prepares the pool from which queues of a GPU allocate: it keeps what they release, and other
/// GPUs reach it where the hardware allows it. Throws: DeviceError.
void prepare_pool(int gpu);

/// Pinned host memory, so that a GPU can copy from and to it by itself.
/// Throws: DeviceError.
[[nodiscard]] std::unique_ptr<DeviceBuffer> make_pinned(int gpu, std::int64_t size_bytes);

}  // namespace tessera::cuda
