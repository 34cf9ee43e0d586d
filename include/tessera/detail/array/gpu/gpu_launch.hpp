#pragma once
/// @file
/// Launches of statements on GPUs, for CUDA compilers alone: expr/gpu.hpp includes it there.
///
/// Launches go through the runtime's plain function, which returns their error and leaves none
/// behind for others.

#ifdef __CUDACC__

#include <cstddef>
#include <cstdint>
#include <new>

#include <cuda_runtime_api.h>

#include "tessera/detail/array/gpu/gpu_work.hpp"
#include "tessera/detail/statement/kernel.hpp"

namespace tessera::detail {

inline constexpr unsigned gpu_threads = 256;

[[nodiscard]] __device__ inline GpuThread this_thread() {
  return {threadIdx.x, threadIdx.y, blockIdx.x, blockIdx.y};
}

template <class Work>
__global__ void __launch_bounds__(gpu_threads) run_work(__grid_constant__ Work const work) {
  work(this_thread());
}

/// Every block writes the combined accumulators of its threads; the parts beyond are empty.
template <class Work>
__global__ void __launch_bounds__(Work::threads) gather_parts(__grid_constant__ Work const work) {
  using A = typename Work::Accumulator;
  __shared__ alignas(A) std::byte storage[Work::threads * sizeof(A)];
  auto* const shared = reinterpret_cast<A*>(storage);
  auto const thread = threadIdx.y * blockDim.x + threadIdx.x;
  A sum = work(this_thread());
  new (shared + thread) A(sum);
  for (unsigned half = Work::threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread >= half) continue;
    sum.merge(shared[thread + half]);
    shared[thread] = sum;
  }
  auto const block = std::int64_t{blockIdx.y} * gridDim.x + blockIdx.x;
  if (thread == 0) work.parts[block] = sum;
  auto const blocks = std::int64_t{gridDim.y} * gridDim.x;
  if (block != 0) return;
  for (auto part = blocks + thread; part < work.part_count; part += Work::threads)
    work.parts[part] = A();
}

/// Writes into every cell the combined accumulators of its threads.
template <class Work>
__global__ void __launch_bounds__(Work::threads) fold_cells(__grid_constant__ Work const work) {
  using A = typename Work::Accumulator;
  __shared__ alignas(A) std::byte storage[Work::threads * sizeof(A)];
  auto* const shared = reinterpret_cast<A*>(storage);
  auto const thread = threadIdx.x;
  for (std::int64_t group = blockIdx.x; group < work.groups(); group += gridDim.x) {
    auto const cell = work.cell_of(group, thread);
    A sum;
    if (cell < work.extents.cells) sum = work.gather(cell, thread);
    if (work.split.steps() > 0) new (shared + thread) A(sum);
    for (unsigned step = 0; step < work.split.steps(); ++step) {
      __syncthreads();
      auto const partner = work.split.partner(step, thread);
      if (partner == thread) continue;
      sum.merge(shared[partner]);
      shared[thread] = sum;
    }
    bool const is_first = work.split.along_of(thread) == 0 && work.split.row_of(thread) == 0;
    if (is_first && cell < work.extents.cells) work.put(cell, sum);
    __syncthreads();  // the next cells take the same memory
  }
}

template <class Work>
[[nodiscard]] int launch(void (*kernel)(Work), Work& work, GpuShape const& shape, void* stream) {
  void* arguments[] = {&work};
  return cudaLaunchKernel(
      reinterpret_cast<void const*>(kernel), dim3(shape.blocks_x, shape.blocks_y),
      dim3(shape.threads_x, shape.threads_y), arguments, 0, static_cast<cudaStream_t>(stream));
}

template <class Kernel, class T, std::size_t N, bool unit>
[[nodiscard]] int launch_assignment_of(GpuCall const& call) {
  auto const box = box_by_value<Kernel, N>(call);
  if (!box) return cudaErrorInvalidValue;
  auto const rows = box->rows();
  auto const columns = box->extents.back();
  if (rows * columns == 0) return cudaSuccess;
  GpuAssignment<Kernel, T, N, unit> work{*box, shape_for(rows, columns, gpu_threads)};
  return launch(&run_work<decltype(work)>, work, work.shape, call.stream);
}
template <class Kernel, class T, std::size_t N>
[[nodiscard]] int launch_assignment(GpuCall const& call) {
  return call.unit_stride ? launch_assignment_of<Kernel, T, N, true>(call)
                          : launch_assignment_of<Kernel, T, N, false>(call);
}

template <class Kernel, class A, std::size_t N, bool unit>
[[nodiscard]] int launch_reduction_of(GpuCall const& call) {
  using Work = GpuReduction<Kernel, A, N, unit>;
  auto const box = box_by_value<Kernel, N>(call);
  if (!box || call.parts <= 0) return cudaErrorInvalidValue;
  // Enough to hide the latency of memory; more blocks would only give the host more parts to merge.
  auto const most =
      std::min<std::int64_t>(call.parts, call.multiprocessors * gpu_blocks_per_multiprocessor);
  Work work{*box, shape_for(box->rows(), box->extents.back(), Work::threads, most),
            static_cast<A*>(call.box.accumulator), call.parts};
  return launch(&gather_parts<Work>, work, work.shape, call.stream);
}
template <class Kernel, class A, std::size_t N>
[[nodiscard]] int launch_reduction(GpuCall const& call) {
  return call.unit_stride ? launch_reduction_of<Kernel, A, N, true>(call)
                          : launch_reduction_of<Kernel, A, N, false>(call);
}

template <class Kernel, class A, class Out, std::size_t N, bool unit>
[[nodiscard]] int launch_fold_of(GpuCall const& call) {
  using Work = GpuFold<Kernel, A, Out, N, unit>;
  auto const box = box_by_value<Kernel, N>(call);
  if (!box) return cudaErrorInvalidValue;
  auto const extents = fold_extents(*box);
  if (extents.cells * extents.rows * extents.row_terms == 0) return cudaSuccess;
  constexpr std::int64_t busy_threads_per_multiprocessor = 1024;
  auto const busy = call.multiprocessors * busy_threads_per_multiprocessor;
  auto const split =
      AddsInOrder<A> ? split_in_order(Work::threads) : split_for(extents, Work::threads, busy);
  Work work{*box, extents, split};
  auto const blocks = std::min<std::int64_t>(work.groups(), 0x7fff'ffff);
  return launch(&fold_cells<Work>, work, {Work::threads, 1, static_cast<unsigned>(blocks), 1},
                call.stream);
}
template <class Kernel, class A, class Out, std::size_t N>
[[nodiscard]] int launch_fold(GpuCall const& call) {
  return call.unit_stride ? launch_fold_of<Kernel, A, Out, N, true>(call)
                          : launch_fold_of<Kernel, A, Out, N, false>(call);
}

/// Fills a slot before `main` begins. Only objects of a CUDA compiler contain it, and each object
/// fills the slot itself, whichever copy of the calling templates the linker keeps.
template <GpuLauncher* slot, GpuLauncher kernel>
struct Registration {
  static inline bool const is_done = [] {
    *slot = kernel;
    note_gpu_kernels();
    return true;
  }();
};

/// Instantiates the registration.
template <GpuLauncher* slot, GpuLauncher kernel>
[[nodiscard]] GpuLauncher const* registered() {
  static_cast<void>(&Registration<slot, kernel>::is_done);
  return slot;
}

}  // namespace tessera::detail

#endif
