#pragma once
/// @file
/// The result type of two operands by NumPy's rules, and conversions between element types that
/// mean the same on every device.

#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tessera/array/element.hpp"
#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

template <std::size_t bytes>
struct SignedOf {
  using type = double;  // as NumPy: uint64 with a signed type becomes float64
};
template <>
struct SignedOf<2> {
  using type = std::int16_t;
};
template <>
struct SignedOf<4> {
  using type = std::int32_t;
};
template <>
struct SignedOf<8> {
  using type = std::int64_t;
};

/// Two different arithmetic types. Integers of 4 bytes and more need a double beside a float.
template <class A, class B>
struct Promote {
  static constexpr bool same_sign = std::is_signed_v<A> == std::is_signed_v<B>;
  using Wider = std::conditional_t<(sizeof(A) >= sizeof(B)), A, B>;
  using Signed = std::conditional_t<std::is_signed_v<A>, A, B>;
  using Unsigned = std::conditional_t<std::is_signed_v<A>, B, A>;
  using Mixed = std::conditional_t<(sizeof(Signed) > sizeof(Unsigned)), Signed,
                                   typename SignedOf<2 * sizeof(Unsigned)>::type>;
  using Integers = std::conditional_t<same_sign, Wider, Mixed>;

  using Float = std::conditional_t<std::is_floating_point_v<A>, A, B>;
  using Other = std::conditional_t<std::is_floating_point_v<A>, B, A>;
  using WithInteger = std::conditional_t<(sizeof(Other) > 2 && sizeof(Float) < 8), double, Float>;

  using type = std::conditional_t<
      std::is_floating_point_v<A> && std::is_floating_point_v<B>, Wider,
      std::conditional_t<std::is_floating_point_v<A> || std::is_floating_point_v<B>, WithInteger,
                         Integers>>;
};
template <class A>
struct Promote<A, A> {
  using type = A;
};
template <class A>
requires(!std::same_as<A, bool>) struct Promote<A, bool> {
  using type = A;
};
template <class B>
requires(!std::same_as<B, bool>) struct Promote<bool, B> {
  using type = B;
};

/// A floating type of 16 bits holds numbers of 8 bits, float those of 16. Two such types have only
/// float in common.
template <class A, class B>
requires(is_half<A> != is_half<B> && !is_complex<A> && !is_complex<B>) struct Promote<A, B> {
  using Short = std::conditional_t<is_half<A>, A, B>;
  using Other = std::conditional_t<is_half<A>, B, A>;
  using WithInteger = std::conditional_t<sizeof(Other) == 1, Short,
                                         std::conditional_t<sizeof(Other) == 2, float, double>>;
  using type = std::conditional_t<std::is_floating_point_v<Other>, Other, WithInteger>;
};
template <class A, class B>
requires(is_half<A>&& is_half<B>) struct Promote<A, B> {
  using type = float;
};
/// The result type of the real parts: float or double.
template <class A, class B>
requires(is_complex<A> || is_complex<B>) struct Promote<A, B> {
  using type = std::complex<typename Promote<real_of<A>, real_of<B>>::type>;
};

/// Numbers by NumPy's table; other types only with themselves.
template <class A, class B>
using promoted = typename Promote<A, B>::type;

/// Kinds of numbers, each of which holds those before it.
enum class Kind { boolean, integer, floating, complex, other };
template <class T>
inline constexpr Kind kind_of = std::same_as<T, bool>   ? Kind::boolean
                                : std::is_integral_v<T> ? Kind::integer
                                : is_floating<T>        ? Kind::floating
                                : is_complex<T>         ? Kind::complex
                                                        : Kind::other;

/// The complex type that corresponds to elements of type T. The narrowest one is that of float.
template <class T>
using complex_beside =
    std::complex<std::conditional_t<std::same_as<T, float> || is_half<T>, float, double>>;

/// The type of an array of T with a C++ scalar of type S, which is weak: it only raises the kind
/// (bool, integer, floating, complex), never the width.
template <class T, class S>
struct Weak {
  using Raised =
      std::conditional_t<kind_of<S> == Kind::complex, complex_beside<T>,
                         std::conditional_t<kind_of<S> == Kind::floating, double, std::int64_t>>;
  using type = std::conditional_t<(kind_of<S> > kind_of<T>), Raised, T>;
};
template <class T, class S>
using weakly_promoted = typename Weak<T, S>::type;

/// The result of a function like sqrt: floating and complex types stay, all others become double.
template <class T>
using floating_of = std::conditional_t<is_floating<T> || is_complex<T>, T, double>;

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
    constexpr T half_beyond = Limits::max() / 2 + 1;
    constexpr S beyond = static_cast<S>(half_beyond) * 2;
    constexpr S lowest = static_cast<S>(Limits::min());
    if (x >= beyond) return Limits::max();
    if (x >= lowest) return static_cast<T>(x);
    return x < lowest ? Limits::min() : T{0};
  } else {
    return static_cast<T>(x);
  }
}

}  // namespace tessera::detail
