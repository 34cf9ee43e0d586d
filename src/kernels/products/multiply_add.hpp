#pragma once
/// @file
/// The step of a product, on the host and on GPUs.

#include <cmath>
#include <type_traits>

#include "tessera/detail/base/function.hpp"

namespace tessera {

/// a * b + c, rounded once; of integers modulo 2^bits.
template <class T>
TESSERA_FORMULA T multiply_add(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, c);
  else if constexpr (sizeof(T) < sizeof(unsigned))  // or it would be a product of int
    return static_cast<T>(static_cast<unsigned>(a) * b + c);
  else
    return a * b + c;
}

}  // namespace tessera
