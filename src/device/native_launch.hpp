#pragma once
/// @file
/// Launches the statement kernels that the GPU's compiler has built.

#include "src/device/kernel_launch.hpp"

namespace tessera {

/// The stream on which such kernels are launched.
struct NativeStream {
  void* stream = nullptr;  ///< of the GPU's runtime
  int multiprocessors = 1;
};

/// Launches the kernel that the GPU's compiler has made. Where there is none and the kernel only
/// copies, `queue` copies. Returns the error code of the GPU's runtime; 0 is success.
[[nodiscard]] int launch_natively(Queue& queue, KernelLaunch const& launch,
                                  NativeStream const& native);

/// Copies the cells that a copying kernel would copy, by the queue itself.
void launch_copy(Queue& queue, KernelLaunch const& launch);

}  // namespace tessera
