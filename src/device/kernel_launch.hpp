#pragma once
/// @file
/// A kernel on its way to a queue.

#include <cstddef>
#include <cstdint>

#include "tessera/base/source.hpp"

#include "src/device/queue.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// The kernel of a statement, apart from the boxes that it computes.
struct KernelSource {
  KernelForms const* forms = nullptr;
  std::int64_t bytes = 0;         ///< of the expression with its literals
  std::int64_t copied_bytes = 0;  ///< of an element, if the kernel only copies; else 0
  std::size_t scalar_count = 0;
  std::int64_t scalar_bytes = 0;  ///< that are read of a scalar
  SourceLocation location{};
};

/// The form of a kernel that computes a box on the host. `non_temporal`: what it writes is not read
/// soon.
[[nodiscard]] inline KernelFunction host_form(KernelForms const& forms, bool unit_stride,
                                              bool non_temporal) {
  if (non_temporal && forms.non_temporal != nullptr) return forms.non_temporal;
  return unit_stride ? forms.unit_stride : forms.any_stride;
}

/// How a reduction accumulates where the host cannot reach the memory of the queue: the launch
/// writes `parts` accumulators, which lie side by side.
struct PartialSums {
  std::int64_t parts = 0;
  std::int64_t bytes = 0;  ///< of one of them
  void (*start)(void* accumulator) = nullptr;
};

/// A kernel for one box.
struct KernelLaunch {
  KernelSource const* kernel = nullptr;
  KernelCall const* box = nullptr;
  std::int64_t rows = 0;
  std::size_t operand_count = 0;
  bool unit_stride = false;   ///< rows of the target and of all operands are contiguous
  bool non_temporal = false;  ///< what it writes is not read soon
  bool is_whole = false;      ///< one call of the kernel takes all rows
  PartialSums sums{};
};

}  // namespace tessera
