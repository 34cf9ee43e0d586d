#pragma once
/// @file
/// The slots in which statements find their GPU kernels.
///
/// A program may have objects of a C++ compiler and of one for GPUs, with the same templates in
/// both; the linker keeps one copy of each. So no copy of a template holds a kernel: each has the
/// address of a slot, the same in all objects, and the objects of the compiler for GPUs fill the
/// slots before `main` begins.

#include <cstddef>

#include "tessera/detail/array/expr/row.hpp"
#include "tessera/detail/base/function.hpp"
#include "tessera/detail/statement/kernel.hpp"

#ifdef TESSERA_COMPILES_FOR_GPUS
#include "tessera/detail/array/gpu/gpu_launch.hpp"
#endif

namespace tessera::detail {

// The slots: null as long as no compiler for GPUs has seen the statement. N dimensions of the index
// space.
template <class Kernel, class T, std::size_t N>
inline constinit GpuLauncher gpu_assignment = nullptr;
template <class Kernel, class A, std::size_t N>
inline constinit GpuLauncher gpu_reduction = nullptr;
template <class Kernel, class A, class Out, std::size_t N>
inline constinit GpuLauncher gpu_fold = nullptr;

#ifdef TESSERA_COMPILES_FOR_GPUS

// Where an operation cannot run on a GPU the slot stays empty.

template <class Kernel, class T, std::size_t N>
[[nodiscard]] GpuLauncher const* gpu_slot_of_assignment() {
  if constexpr (Kernel::ends.runs_on_gpu)
    return registered<&gpu_assignment<Kernel, T, N>, &launch_assignment<Kernel, T, N>>();
  else
    return &gpu_assignment<Kernel, T, N>;
}
template <class Kernel, class A, std::size_t N>
[[nodiscard]] GpuLauncher const* gpu_slot_of_reduction() {
  if constexpr (Kernel::ends.runs_on_gpu)
    return registered<&gpu_reduction<Kernel, A, N>, &launch_reduction<Kernel, A, N>>();
  else
    return &gpu_reduction<Kernel, A, N>;
}
template <class Kernel, class A, class Out, std::size_t N>
[[nodiscard]] GpuLauncher const* gpu_slot_of_fold() {
  if constexpr (Kernel::ends.runs_on_gpu)
    return registered<&gpu_fold<Kernel, A, Out, N>, &launch_fold<Kernel, A, Out, N>>();
  else
    return &gpu_fold<Kernel, A, Out, N>;
}

#else

template <class Kernel, class T, std::size_t N>
[[nodiscard]] GpuLauncher const* gpu_slot_of_assignment() {
  return &gpu_assignment<Kernel, T, N>;
}
template <class Kernel, class A, std::size_t N>
[[nodiscard]] GpuLauncher const* gpu_slot_of_reduction() {
  return &gpu_reduction<Kernel, A, N>;
}
template <class Kernel, class A, class Out, std::size_t N>
[[nodiscard]] GpuLauncher const* gpu_slot_of_fold() {
  return &gpu_fold<Kernel, A, Out, N>;
}

#endif

}  // namespace tessera::detail
