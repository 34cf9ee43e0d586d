#pragma once
/// @file
/// Whether this program has kernels for GPUs.

namespace tessera {
namespace detail {
inline constinit bool has_gpu_kernels = false;
}  // namespace detail

/// Whether a CUDA compiler made any part of the program that has statements. Else every statement
/// on arrays of GPUs lacks its kernel. True or false for good once `main` has begun.
[[nodiscard]] inline bool gpu_kernels_built() {
  return detail::has_gpu_kernels;
}

}  // namespace tessera
