#pragma once
/// @file
/// Kernels on cores of the host.

#include "src/device/kernel_launch.hpp"
#include "src/device/row_launch.hpp"

namespace tessera::host {

/// The form of a kernel that computes a box on the host.
[[nodiscard]] inline KernelFunction form_for(KernelLaunch const& launch) {
  auto const& forms = *launch.kernel->forms;
  if (launch.non_temporal && forms.non_temporal != nullptr) return forms.non_temporal;
  return launch.unit_stride ? forms.unit_stride : forms.any_stride;
}

/// Computes the box, and returns when that is done.
/// Throws: what the kernel throws.
inline void launch(KernelLaunch const& launch) {
  auto const kernel = form_for(launch);
  if (launch.is_whole)
    kernel(launch.box, 0, launch.rows);
  else
    tessera::launch(launch.rows, kernel, launch.box, launch.kernel->location);
}

}  // namespace tessera::host
