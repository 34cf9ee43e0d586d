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

}  // namespace tessera
