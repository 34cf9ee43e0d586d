#pragma once
/// @file
/// What a compiled kernel is handed: the seam between the expression templates of a user's program
/// and the compiled, rank- and type-erased library.

#include <cstddef>
#include <cstdint>

#include "tessera/index/index.hpp"

namespace tessera {

/// The most arrays that one statement may read.
inline constexpr std::size_t max_leaves = 64;
/// The most scalars that one statement may read.
inline constexpr std::size_t max_scalars = 16;

/// One array inside a box of indices: where the box's first index lies, and the distance from one
/// index to the next along each dimension of the statement, in elements (0 where nothing moves).
struct LeafView {
  std::byte const* first = nullptr;
  Index const* strides = nullptr;
};

/// One box of a statement on one device.
struct KernelCall {
  void const* kernel = nullptr;    ///< the expression with its literals, as the program made it
  Index const* first = nullptr;    ///< the statement's index of the box's first cell
  Index const* extents = nullptr;  ///< of the box; at least one dimension
  std::byte* target = nullptr;
  Index const* target_strides = nullptr;
  LeafView const* leaves = nullptr;
  std::byte const* const* scalars = nullptr;
  void* accumulator = nullptr;  ///< of a reduction
  std::int64_t step = 0;        ///< of the loop that the statement stands in
};

/// Computes rows [first_row, last_row) of a box: a row is a run along the last dimension, rows
/// count in row-major order over the others. `call` is a KernelCall.
using KernelFunction = void (*)(void const* call, std::int64_t first_row, std::int64_t last_row);

/// How many parts a GPU's share of a reduction has for each multiprocessor: enough that all have
/// something to do, and the host little.
inline constexpr std::int64_t gpu_blocks_per_multiprocessor = 8;

/// One box of a statement for a GPU. All but the cells lies on the host, and is read before the
/// kernel is launched: the scalars too.
struct GpuCall {
  /// Its cells and those of its leaves are addresses of the GPU; leaves of constants past the edges
  /// point into `box.kernel`. `box.accumulator` is memory of the GPU for `parts` accumulators.
  KernelCall box;
  std::int64_t kernel_bytes = 0;
  std::size_t leaf_count = 0;
  std::size_t scalar_count = 0;
  bool unit_stride = false;  ///< cells of rows lie side by side, of the target and of all leaves
  std::int64_t parts = 0;    ///< of a reduction: how many accumulators there is room for
  void* stream = nullptr;    ///< a cudaStream_t
  int multiprocessors = 0;
};

/// Launches the kernel for a box; a reduction writes all `parts` accumulators. Returns a
/// cudaError_t. Throws nothing, waits for nothing.
using GpuKernel = int (*)(GpuCall const& call);

/// A kernel, compiled for inner strides of one element, and for any.
struct KernelForms {
  KernelFunction unit_stride = nullptr;
  KernelFunction any_stride = nullptr;
  /// As unit_stride with stores past the caches, of a target that is not read; null if there is no
  /// such form.
  KernelFunction past_caches = nullptr;
  /// Where the launch on a GPU is put by the part of the program that a CUDA compiler made; null
  /// inside as long as none did. Null itself where the library computes on GPUs by other means.
  GpuKernel const* gpu = nullptr;
};

/// Whether some part of the program was made by a CUDA compiler, and so has kernels for GPUs.
[[nodiscard]] bool gpu_kernels_built();

namespace detail {
/// From now on `gpu_kernels_built()`.
void note_gpu_kernels();
}  // namespace detail

}  // namespace tessera
