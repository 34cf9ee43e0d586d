#pragma once
/// @file
/// The arguments of a compiled kernel: the seam between the expression templates of a user's
/// program and the compiled, rank- and type-erased library. And its walk over the rows of a box.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/detail/base/function.hpp"
#include "tessera/index/index.hpp"

namespace tessera::detail {

/// The most arrays that one statement may read.
inline constexpr std::size_t max_operands = 64;
/// The most scalars that one statement may read.
inline constexpr std::size_t max_scalars = 16;

/// One operand over a box of indices: the address of the box's first index, and the distance from
/// one index to the next along each dimension of the statement, in elements (0 along a dimension
/// that does not move the operand).
struct OperandView {
  std::byte const* first = nullptr;
  Index const* strides = nullptr;
};

/// One box of a statement on one device.
struct KernelCall {
  void const* kernel = nullptr;    ///< the expression with its literals, made by the program
  Index const* first = nullptr;    ///< the statement's index of the box's first cell
  Index const* extents = nullptr;  ///< of the box; at least one dimension
  std::byte* target = nullptr;
  Index const* target_strides = nullptr;
  OperandView const* operands = nullptr;
  std::byte const* const* scalars = nullptr;
  void* accumulator = nullptr;  ///< of a reduction
  std::int64_t step = 0;        ///< of the loop that the statement stands in
  /// What a kernel that takes long calls now and then, so that messages travel meanwhile; may be
  /// null.
  void (*pause)(void* context) = nullptr;
  void* pause_context = nullptr;
};

/// Computes rows [first_row, last_row) of a box: a row is a run along the last dimension, rows
/// count in row-major order over the others. `call` is a KernelCall.
using KernelFunction = void (*)(void const* call, std::int64_t first_row, std::int64_t last_row);

/// The number of parts per multiprocessor in a GPU's share of a reduction: enough to keep all of
/// them busy, and few enough for the host to merge quickly.
inline constexpr std::int64_t gpu_blocks_per_multiprocessor = 8;

/// One box of a statement for a GPU. All data except the cells lie on the host and are read before
/// the kernel is launched, including the scalars.
struct GpuCall {
  /// Addresses of cells, of the target and of the operands, are GPU addresses; operands that are
  /// constants past the edges point into `box.kernel`. `box.accumulator` is memory of the GPU for
  /// `parts` accumulators.
  KernelCall box;
  std::int64_t kernel_bytes = 0;
  std::size_t operand_count = 0;
  std::size_t scalar_count = 0;
  bool unit_stride = false;  ///< rows of the target and of all operands are contiguous
  std::int64_t parts = 0;    ///< of a reduction: number of accumulators that fit
  void* stream = nullptr;    ///< of the GPU's runtime
  int multiprocessors = 0;
};

/// Launches the kernel for a box; a reduction writes all `parts` accumulators. Returns an error
/// code of the GPU's runtime. Throws nothing, waits for nothing.
using GpuLauncher = int (*)(GpuCall const& call);

/// The compiled forms of a kernel: for inner strides of one element, and for any.
struct KernelForms {
  KernelFunction unit_stride = nullptr;
  KernelFunction any_stride = nullptr;
  /// As unit_stride with non-temporal stores, for a target that is not read; null if there is no
  /// such form.
  KernelFunction non_temporal = nullptr;
  /// The slot that holds the GPU launch function. The part of the program that a compiler
  /// for GPUs built fills the slot; until then its content is null. The pointer itself is null if
  /// the library computes on GPUs by other means.
  GpuLauncher const* gpu = nullptr;
};

/// Notes that a part of the program was made by a compiler for GPUs, and so has kernels for GPUs.
void note_gpu_kernels();
/// True if some part of the program was made by a compiler for GPUs, and so has kernels for GPUs.
[[nodiscard]] bool gpu_kernels_built();

/// Receives the numbers in a kernel, in order.
class NumberVisitor {
 public:
  virtual void signed_integer(std::int64_t value) = 0;
  virtual void unsigned_integer(std::uint64_t value) = 0;
  virtual void real(float value) = 0;
  virtual void real(double value) = 0;
  virtual void real(long double value) = 0;
  /// A struct, with the bytes between its members set to zero.
  virtual void structure(std::span<std::byte const> bytes) = 0;
  /// The slot of an operand or a scalar, or a dimension.
  virtual void position(std::size_t position) = 0;
  virtual ~NumberVisitor() = default;
};

/// Calls visit() for rows [first, last) of a box, in order: a row is a run along the last
/// dimension, rows count in row-major order over the others.
///
/// `cursors` start at the box's first row. Before each call all of them have been moved to the
/// call's row by cursor.move(d, n): n indices further along dimension d. So a row costs one
/// addition per cursor.
template <class Visit, class... Cursors>
TESSERA_FUNCTION void visit_rows(Index const& extents, std::int64_t first, std::int64_t last,
                                 Visit const& visit, Cursors&... cursors) {
  if (first == last) return;
  std::int64_t at[max_rank] = {};
  std::int64_t rest = first;
  for (std::size_t d = extents.size() - 1; d-- > 0 && rest != 0; rest /= extents[d]) {
    at[d] = rest % extents[d];
    (cursors.move(d, at[d]), ...);
  }
  for (auto row = first;;) {
    // Rows that follow each other along the last dimension but one.
    auto const line = extents.size() - 2;
    auto const count =
        extents.size() < 2 ? 1 : std::min<std::int64_t>(extents[line] - at[line], last - row);
    for (std::int64_t i = 1;; ++i) {
      visit();
      if (i == count) break;
      (cursors.move(line, 1), ...);
    }
    row += count;
    if (row == last) return;
    auto d = line;
    for (at[d] += count - 1; at[d] + 1 == extents[d]; at[d--] = 0) (cursors.move(d, -at[d]), ...);
    ++at[d];
    (cursors.move(d, 1), ...);
  }
}

}  // namespace tessera::detail
