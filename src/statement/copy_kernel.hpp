#pragma once
/// @file
/// The kernel that copies an operand's cells unchanged, whatever their type.

#include <cstdint>

#include "src/statement/statement.hpp"

namespace tessera {

/// Copies operand 0; elements are bytes.
struct CopyKernel {
  std::int64_t element_bytes;
};

/// The functions behind a CopyKernel.
[[nodiscard]] KernelForms copy_forms();

}  // namespace tessera
