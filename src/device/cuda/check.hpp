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

}  // namespace tessera::cuda
