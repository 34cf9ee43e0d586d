#pragma once
/// @file
/// The kinds of x86-64 processors whose vectors the kernels use. The attribute `target` stands at
/// their functions, not at the files: inline functions of other headers must not be compiled for
/// processors that may be absent.

#include "src/kernels/processors.hpp"

namespace tessera {

/// For AVX2 with fused multiply-add.
[[nodiscard]] ProcessorKernels kernels_for_avx2();
/// For the parts of AVX-512 that all processors with wide vectors of it have, and the above.
[[nodiscard]] ProcessorKernels kernels_for_avx512();

}  // namespace tessera
