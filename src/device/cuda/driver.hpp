#pragma once
/// @file
/// The GPUs of CUDA.

#include <memory>

#include "src/device/driver.hpp"

namespace tessera {

/// The GPUs that the CUDA driver shows: `count()` is 0 where there is no driver or no GPU.
/// Throws: BackendNotBuilt where TESSERA_WITH_CUDA is off.
[[nodiscard]] std::unique_ptr<DeviceDriver> make_cuda_driver();
/// True in builds with TESSERA_WITH_CUDA.
[[nodiscard]] bool has_cuda_driver();
/// How a program gets kernels that run on these GPUs: the end of a sentence in an error.
inline constexpr char const* how_to_have_cuda_kernels =
    "no CUDA compiler has seen it; build the program with tessera_compile_as_cuda(target)";

}  // namespace tessera
