#pragma once
/// @file
/// Kernels on emulated GPUs: the host's own, later.

#include "src/device/emulated/queue.hpp"
#include "src/device/kernel_launch.hpp"

namespace tessera::emulated {

/// Adds the work of a kernel to a queue. Everything on the host that the launch names is copied.
void launch(Queue& queue, KernelLaunch const& launch);

}  // namespace tessera::emulated
