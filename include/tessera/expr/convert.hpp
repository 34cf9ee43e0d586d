#pragma once
/// @file
/// Conversions between element types that mean the same on every device.

#include <concepts>
#include <limits>
#include <type_traits>

#include "tessera/base/function.hpp"

namespace tessera::detail {

/// x as a T. What C++ leaves undefined is defined here, so that vectors, their remainders and
/// devices agree: a floating value beyond an integer type becomes the nearest one it has, and NaN
/// becomes 0.
template <class T, class S>
TESSERA_FUNCTION T convert(S x) {
  constexpr bool may_overflow =
      std::is_floating_point_v<S> && std::is_integral_v<T> && !std::same_as<T, bool>;
  if constexpr (may_overflow) {
    using Limits = std::numeric_limits<T>;
    // 2^digits is the first value beyond, and a power of two is exact in every floating type.
    constexpr S beyond = static_cast<S>(Limits::max() / 2 + 1) * 2;
    constexpr S lowest = static_cast<S>(Limits::min());
    if (x >= beyond) return Limits::max();
    if (x >= lowest) return static_cast<T>(x);
    return x < lowest ? Limits::min() : T{0};
  } else {
    return static_cast<T>(x);
  }
}

}  // namespace tessera::detail
