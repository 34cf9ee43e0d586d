#pragma once
/// @file
/// The result type of two operands by NumPy's rules, and conversions between element types that
/// mean the same on every device.

#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tessera/array/element.hpp"
#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

/// The signed integer of so many bytes; as NumPy, uint64 with a signed type becomes float64.
template <std::size_t bytes>
using SignedOf =
    std::conditional_t<bytes == 2, std::int16_t,
                       std::conditional_t<bytes == 4, std::int32_t,
                                          std::conditional_t<bytes == 8, std::int64_t, double>>>;

/// Two different arithmetic types. Integers of 4 bytes and more need a double beside a float.
template <class A, class B>
struct Promote {
  static constexpr bool same_sign = std::is_signed_v<A> == std::is_signed_v<B>;
  using Wider = std::conditional_t<(sizeof(A) >= sizeof(B)), A, B>;
  using Signed = std::conditional_t<std::is_signed_v<A>, A, B>;
  using Unsigned = std::conditional_t<std::is_signed_v<A>, B, A>;
  using Mixed = std::conditional_t<(sizeof(Signed) > sizeof(Unsigned)), Signed,
                                   SignedOf<2 * sizeof(Unsigned)>>;
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

/// An int64 or a uint64, in 128 bits: comparisons of the two in double would round beyond 2^53.
struct EitherInteger {
  std::int64_t high;
  std::uint64_t low;
  template <class I>
  TESSERA_FUNCTION explicit EitherInteger(I x)
      : high(std::is_signed_v<I> && x < 0 ? -1 : 0), low(static_cast<std::uint64_t>(x)) {}
  // Without branches, so that loops become vectors. Not defaulted: nvcc does not take that.
  TESSERA_FUNCTION friend bool operator==(EitherInteger a, EitherInteger b) {
    return (a.high == b.high) & (a.low == b.low);
  }
  TESSERA_FUNCTION friend bool operator<(EitherInteger a, EitherInteger b) {
    return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
  }
  TESSERA_FUNCTION friend bool operator>(EitherInteger a, EitherInteger b) { return b < a; }
  TESSERA_FUNCTION friend bool operator<=(EitherInteger a, EitherInteger b) { return !(b < a); }
  TESSERA_FUNCTION friend bool operator>=(EitherInteger a, EitherInteger b) { return !(a < b); }
};
template <class A, class B>
inline constexpr bool differ_in_sign = std::is_integral_v<A>&& std::is_integral_v<B> &&
                                       sizeof(A) == 8 &&
                                       sizeof(B) == 8 && std::is_signed_v<A> != std::is_signed_v<B>;
/// The type in which two elements are compared.
template <class A, class B>
using compared = std::conditional_t<differ_in_sign<A, B>, EitherInteger, promoted<A, B>>;

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

/// condition ? a : b, part by part, so that loops become vectors.
template <class C>
[[nodiscard]] TESSERA_FUNCTION C selected(bool condition, C a, C b) {
  if constexpr (is_complex<C>)
    return {condition ? a.real() : b.real(), condition ? a.imag() : b.imag()};
  else if constexpr (is_half<C>)
    return C::from_bits(condition ? a.bits() : b.bits());
  else if constexpr (std::same_as<C, bool>)
    return (condition & a) | (!condition & b);
  else
    return condition ? a : b;
}

// Conversions of integers of 64 bits with the results of static_cast. AVX2 has no instruction for
// vectors of them, so they are made of two halves: 2^52 plus a half n has the bits of 2^52, plus n.
#if defined(__AVX2__) && !defined(__AVX512DQ__) && !defined(__CUDA_ARCH__)
inline constexpr bool by_halves = true;
#else
inline constexpr bool by_halves = false;
#endif
template <class T>
inline constexpr bool has_halves = std::is_integral_v<T> && sizeof(T) == 8 && by_halves;

/// The double nearest to an integer.
template <class I>
[[nodiscard]] TESSERA_FUNCTION double from_halves(I x) {
  constexpr std::uint64_t sign = std::is_signed_v<I> ? 0x8000'0000U : 0;
  constexpr double added = 0x1p84 + 0x1p52 + (std::is_signed_v<I> ? 0x1p63 : 0);
  auto const bits = static_cast<std::uint64_t>(x);
  auto const high = (bits >> 32U) ^ (sign | std::bit_cast<std::uint64_t>(0x1p84));
  auto const low = (bits & 0xffff'ffffU) | std::bit_cast<std::uint64_t>(0x1p52);
  auto const sum = (std::bit_cast<double>(high) - added) + std::bit_cast<double>(low);
  return x == 0 ? 0 : sum;  // which is -0 if the thread rounds down
}
/// A double that is in the range of the integer I, rounded towards zero.
template <class I>
[[nodiscard]] TESSERA_FUNCTION I to_halves(double x) {
  constexpr double added = 0x1.8p52;
  auto const whole = std::trunc(x);
  auto const high = std::floor(whole * 0x1p-32);
  auto const high_bits = std::bit_cast<std::uint64_t>(high + added) << 32U;
  auto const low_bits = std::bit_cast<std::uint64_t>(whole - high * 0x1p32 + added);
  constexpr auto bits = std::bit_cast<std::uint64_t>(added);
  return static_cast<I>(high_bits + low_bits - ((bits << 32U) + bits));
}

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
    if constexpr (has_halves<T> && sizeof(S) <= 8) {
      auto const within = x >= lowest ? to_halves<T>(x) : x < lowest ? Limits::min() : T{0};
      return x >= beyond ? Limits::max() : within;
    } else {
      if (x >= beyond) return Limits::max();
      if (x >= lowest) return static_cast<T>(x);
      return x < lowest ? Limits::min() : T{0};
    }
  } else if constexpr (has_halves<S> && std::same_as<T, double>) {
    return from_halves(x);
  } else if constexpr (std::same_as<S, bool> && std::is_arithmetic_v<T>) {
    return x ? T{1} : T{0};
  } else {
    return static_cast<T>(x);
  }
}

/// The argument type of the functions of <cmath>: float for floating types of 16 bits.
template <class C>
using Computed = std::conditional_t<is_half<C>, float, C>;

}  // namespace tessera::detail
