#pragma once
/// @file
/// Launches of the kernels that copy and fill. The GPU is the calling thread's current one.

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "src/device/strided_moves.hpp"

namespace tessera::cuda {

/// Where a kernel is launched.
struct LaunchTarget {
  cudaStream_t stream = nullptr;
  int multiprocessors = 1;
};

/// Makes the current GPU load all kernels of this file. By default it loads each at its first
/// launch, which is too late during a graph capture.
[[nodiscard]] cudaError_t load_kernels();

// Returns the result of the launch. Launches nothing if there are no bytes.
[[nodiscard]] cudaError_t launch_moves(GpuMoves const& moves, LaunchTarget const& place);
[[nodiscard]] cudaError_t launch_fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes,
                                      LaunchTarget const& place);

}  // namespace tessera::cuda
