#pragma once
/// @file
/// The loops of all kernels, once for each kind of processor that the library was built for.

#include <span>

#include "src/kernels/formulas/loops.hpp"
#include "src/kernels/products/loops.hpp"
#include "src/kernels/random/loops.hpp"

namespace tessera {

/// The loops for one kind of processor. Those of every kind give the same bits.
struct ProcessorKernels {
  char const* name;
  detail::FormulaLoops const* formulas;
  ProductLoops const* products;
  detail::RandomLoops const* random;
};

/// The loops that any processor can run.
[[nodiscard]] ProcessorKernels kernels_for_any_processor();

/// The kinds that this processor can run, the fastest first; the last one runs anywhere.
/// Cost: asks the processor at the first call.
[[nodiscard]] std::span<ProcessorKernels const> kernels_of_this_processor();

}  // namespace tessera
