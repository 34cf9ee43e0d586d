#pragma once
/// @file
/// Conversions between element types that mean the same on every device.

#include <concepts>
#include <limits>
#include <type_traits>

#include "tessera/array/element.hpp"
#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

/// x as a T. Conversions that C++ leaves undefined are defined here, so that vectors, their
/// remainders and devices agree: a floating value beyond an integer type becomes the nearest value
/// of that type, and NaN becomes 0. A complex number converts only to a complex number, or to a
/// bool that says whether it is not zero.
template <class T, class S>
TESSERA_FUNCTION T convert(S x) {
  constexpr bool may_overflow =
      std::is_floating_point_v<S> && std::is_integral_v<T> && !std::same_as<T, bool>;
  if constexpr (std::same_as<T, S>) {
    return x;
  } else if constexpr (is_complex<S>) {
    static_assert(is_complex<T> || std::same_as<T, bool>,
                  "a complex number is not a real one: use real(u), imag(u) or abs(u)");
    if constexpr (is_complex<T>)
      return T(static_cast<real_of<T>>(x.real()), static_cast<real_of<T>>(x.imag()));
    else
      return x.real() != 0 || x.imag() != 0;
  } else if constexpr (is_complex<T>) {
    return T(convert<real_of<T>>(x), 0);
  } else if constexpr (is_half<S>) {
    return convert<T>(static_cast<float>(x));
  } else if constexpr (may_overflow) {
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
