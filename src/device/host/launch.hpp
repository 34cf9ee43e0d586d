#pragma once
/// @file
/// Kernels on cores of the host.

#include "src/device/kernel_launch.hpp"
#include "src/device/row_launch.hpp"

namespace tessera::host {

/// Computes the box, and returns when that is done.
/// Throws: what the kernel throws.
inline void launch(KernelLaunch const& launch) {
  auto const kernel = host_form(*launch.kernel->forms, launch.unit_stride, launch.non_temporal);
  if (launch.is_whole)
    kernel(launch.box, 0, launch.rows);
  else
    tessera::launch(launch.rows, kernel, launch.box, launch.kernel->location);
}

}  // namespace tessera::host
