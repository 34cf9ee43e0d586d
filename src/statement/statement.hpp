#pragma once
/// @file
/// Statements and kernels, without naming their namespace.

#include "tessera/detail/statement/kernel.hpp"
#include "tessera/detail/statement/statement.hpp"

#include "src/statement/array_model.hpp"
#include "src/statement/scalar_model.hpp"

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
using detail::OperandRequest;
using detail::OperandView;
using detail::Purpose;
using detail::Reduction;
using detail::Statement;
using detail::visit_rows;
using detail::WriteMode;

}  // namespace tessera
