#pragma once
/// @file
/// Kernels on their way to a GPU.

#include <cstdint>

#include "tessera/base/source.hpp"
#include "tessera/device/gpu.hpp"
#include "tessera/exchange/kernel.hpp"

namespace tessera {

/// A kernel for one box. All pointers to the host are read before `launch_on_gpu` returns.
struct GpuLaunch {
  KernelForms const* forms = nullptr;
  KernelCall const* box = nullptr;
  std::int64_t rows = 0;
  bool unit_stride = false;
  std::size_t leaf_count = 0;
  std::size_t scalar_count = 0;
  std::int64_t kernel_bytes = 0;
  std::int64_t copied_bytes = 0;       ///< of an element, where the kernel copies them; else 0
  std::int64_t parts = 0;              ///< of a reduction: as GpuCall's
  std::int64_t accumulator_bytes = 0;  ///< of one of them
  void (*start)(void* accumulator) = nullptr;
  Place place{};
};

/// True if a statement of these forms can be computed by a stream: in the emulation, by a kernel
/// that a CUDA compiler made, or as a copy.
[[nodiscard]] bool can_launch(GpuStream const& stream, KernelForms const& forms,
                              std::int64_t copied_bytes);

/// Brings the work to a stream.
/// Throws: DeviceError.
void launch_on_gpu(GpuStream& stream, GpuLaunch const& launch);

}  // namespace tessera
