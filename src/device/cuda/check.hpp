#pragma once
/// @file
/// Turns results of CUDA runtime calls into errors with a remedy.

#include <string_view>

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Throws: DeviceError for anything except success, with the name of the call, the GPU, the error's
///         name and CUDA's description, and a remedy.
void check(cudaError_t error, std::string_view call, int gpu);

/// For destructors: logs the error that `check` would throw. Logs nothing when the process ends and
/// the runtime has been unloaded.
void report(cudaError_t error, std::string_view call, int gpu) noexcept;

/// Directs the calling thread's CUDA calls to a GPU from now on. Queries the current GPU every
/// time, because other code may have changed it; the query only reads the thread's own memory.
/// Throws: DeviceError.
void make_current(int gpu);
[[nodiscard]] cudaError_t try_make_current(int gpu) noexcept;
/// Evaluates a query: true if the work is done. "Not yet" is no failure, although CUDA records it
/// as one.
/// Throws: DeviceError.
[[nodiscard]] bool is_done(cudaError_t answer, char const* call, int gpu);

}  // namespace tessera::cuda
