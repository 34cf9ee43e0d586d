#pragma once
/// @file
/// The value of a function for one argument, where kernels for GPUs are made: by the formula
/// itself, on the host as on the device.

#include "tessera/detail/formulas/values.hpp"

namespace tessera::detail {

template <Function function, class R>
[[nodiscard]] TESSERA_FUNCTION R value_of(R x) {
  return value_by_formula<function>(x);
}
template <Function2 function, class R>
[[nodiscard]] TESSERA_FUNCTION R value_of(R x, R y) {
  return value_by_formula<function>(x, y);
}

}  // namespace tessera::detail
