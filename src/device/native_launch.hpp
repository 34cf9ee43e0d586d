#pragma once
/// @file
/// Launches by which a GPU's own compiler has built a statement's kernel.

#include "src/device/kernel_launch.hpp"

namespace tessera {

/// Where such kernels are launched.
struct NativeStream {
  void* stream = nullptr;  ///< of the GPU's runtime
  int multiprocessors = 1;
};

/// Launches the kernel that the GPU's compiler has made. Where there is none and the kernel only
/// copies, `queue` copies. Returns the error code of the GPU's runtime; 0 is success.
[[nodiscard]] int launch_natively(Queue& queue, KernelLaunch const& launch,
                                  NativeStream const& native);

/// The cells that a copying kernel would copy, copied by the queue itself.
void launch_copy(Queue& queue, KernelLaunch const& launch);

}  // namespace tessera
