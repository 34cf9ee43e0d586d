#pragma once
/// @file
/// The kernel that writes a leaf's cells unchanged, whatever they are.

#include <cstdint>

#include "tessera/exchange/kernel.hpp"

namespace tessera {

/// Copies leaf 0; elements are bytes.
struct CopyKernel {
  std::int64_t element_bytes;
};

/// The functions behind a CopyKernel.
[[nodiscard]] KernelForms copy_forms();

}  // namespace tessera
