#pragma once
/// @file
/// What calls of the CUDA runtime return, as errors that say what to do.

#include <string_view>

#include <cuda_runtime_api.h>

namespace tessera::cuda {

/// Throws: DeviceError for anything but success, with the name of the call, the GPU, the error's
/// name and what CUDA says of it, and what may help.
void check(cudaError_t error, std::string_view call, int gpu);

/// For destructors: logs what `check` would throw. Nothing once the process ends and the runtime is
/// gone.
void report(cudaError_t error, std::string_view call, int gpu) noexcept;

}  // namespace tessera::cuda
