#pragma once
/// @file
/// What a compiled kernel is handed, its walk over rows, and whether the program has kernels for
/// GPUs.

#include "tessera/detail/statement/kernel.hpp"

namespace tessera {

using detail::gpu_blocks_per_multiprocessor;
using detail::gpu_kernels_built;
using detail::GpuCall;
using detail::GpuLauncher;
using detail::KernelCall;
using detail::KernelForms;
using detail::KernelFunction;
using detail::max_operands;
using detail::max_scalars;
using detail::NumberVisitor;
using detail::OperandView;
using detail::visit_rows;

}  // namespace tessera
