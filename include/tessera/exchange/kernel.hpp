#pragma once
/// @file
/// What a compiled kernel is handed: the seam between the expression templates of a user's program
/// and the compiled, rank- and type-erased library.

#include <cstddef>
#include <cstdint>

#include "tessera/index/index.hpp"

namespace tessera {

/// The most arrays and the most scalars that one statement may read.
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

/// A kernel, compiled for inner strides of one element, and for any.
struct KernelForms {
  KernelFunction unit_stride = nullptr;
  KernelFunction any_stride = nullptr;
  /// As unit_stride with stores past the caches, of a target that is not read; null if there is no
  /// such form.
  KernelFunction past_caches = nullptr;
};

}  // namespace tessera
