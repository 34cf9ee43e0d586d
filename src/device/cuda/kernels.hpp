#pragma once
/// @file
/// Launches of the kernels that copy and fill. The GPU is the calling thread's current one.

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "../gpu_moves.hpp"

namespace tessera::cuda {

/// Where a kernel is launched.
struct LaunchPlace {
  cudaStream_t stream = nullptr;
  int multiprocessors = 1;
};

/// Has the current GPU load all kernels of this file, which it would do at the first launch of
/// each: while a graph is made that is too late.
[[nodiscard]] cudaError_t load_kernels();

// What the launch returned. Nothing is launched for no bytes.
[[nodiscard]] cudaError_t launch_moves(GpuMoves const& moves, LaunchPlace const& place);
[[nodiscard]] cudaError_t launch_fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes,
                                      LaunchPlace const& place);

}  // namespace tessera::cuda
