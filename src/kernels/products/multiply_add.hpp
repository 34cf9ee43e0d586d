#pragma once
/// @file
/// The multiply-add of the terms of products, on the host and on GPUs.

#include <cmath>
#include <type_traits>

#include "tessera/detail/base/function.hpp"

namespace tessera {

/// a * b + c: rounded once for floating-point types, modulo 2^bits for integers.
template <class T>
TESSERA_FORMULA T multiply_add(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, c);
  else if constexpr (sizeof(T) < sizeof(unsigned))  // or int would overflow
    return static_cast<T>(static_cast<unsigned>(a) * b + c);
  else
    return a * b + c;
}

}  // namespace tessera
