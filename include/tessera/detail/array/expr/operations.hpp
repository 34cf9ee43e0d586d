#pragma once
/// @file
/// The operations on one cell. Both operands are first converted to type C.

#include <cmath>
#include <complex>
#include <concepts>
#include <type_traits>

#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

/// The type in which integers wrap around instead of overflowing, as NumPy's do. At least as wide
/// as unsigned, so that the result is never promoted to a signed type.
template <class C>
using Wrapping = std::common_type_t<std::make_unsigned_t<C>, unsigned>;

template <class C>
inline constexpr bool wraps = std::is_integral_v<C> && !std::same_as<C, bool>;

/// The argument type of the functions of <cmath>: float for floating types of 16 bits.
template <class C>
using Computed = std::conditional_t<is_half<C>, float, C>;

// Complex arithmetic as in NumPy: by the plain formulas, which the compiler vectorises. C++'s own
// operators first look for infinities among NaNs.
template <class R>
TESSERA_FUNCTION std::complex<R> product_of(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// Divides by the larger part first, so that no square overflows.
/// Source: Smith, Algorithm 116: Complex division (1962).
template <class R>
TESSERA_FUNCTION std::complex<R> quotient_of(std::complex<R> a, std::complex<R> b) {
  bool const real_is_larger = std::fabs(b.real()) >= std::fabs(b.imag());
  R const larger = real_is_larger ? b.real() : b.imag();
  R const smaller = real_is_larger ? b.imag() : b.real();
  if (larger == 0) return {a.real() / std::fabs(larger), a.imag() / std::fabs(larger)};
  R const ratio = smaller / larger;
  R const scale = R{1} / (larger + smaller * ratio);
  if (real_is_larger)
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

struct Add {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (wraps<C>)
      return static_cast<C>(static_cast<Wrapping<C>>(a) + static_cast<Wrapping<C>>(b));
    else
      return static_cast<C>(a + b);  // bool: or
  }
};
struct Subtract {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (wraps<C>)
      return static_cast<C>(static_cast<Wrapping<C>>(a) - static_cast<Wrapping<C>>(b));
    else
      return static_cast<C>(a - b);
  }
};
struct Multiply {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (wraps<C>)
      return static_cast<C>(static_cast<Wrapping<C>>(a) * static_cast<Wrapping<C>>(b));
    else if constexpr (is_complex<C>)
      return product_of(a, b);
    else
      return static_cast<C>(a * b);
  }
};
/// True division: C is a floating or complex type.
struct Divide {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (is_complex<C>)
      return quotient_of(a, b);
    else
      return a / b;
  }
};
/// The remainder with the sign of the divisor; integers modulo 0 are 0.
struct Modulo {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (is_half<C>) {
      return apply<float>(a, b);
    } else if constexpr (std::is_floating_point_v<C>) {
      auto const rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(C{0}, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<C>)
        if (b == -1) return 0;
      auto const rest = static_cast<C>(a % b);
      return static_cast<C>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
  }
};
struct Negate {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    if constexpr (wraps<C>)
      return static_cast<C>(Wrapping<C>{0} - static_cast<Wrapping<C>>(a));
    else
      return static_cast<C>(-a);
  }
};
/// The magnitude: of a complex number, a real one.
struct Absolute {
  template <class C>
  TESSERA_FUNCTION static real_of<C> apply(C a) {
    if constexpr (is_complex<C>)
      return std::hypot(a.real(), a.imag());
    else if constexpr (is_floating<C>)
      return std::fabs(static_cast<Computed<C>>(a));
    else if constexpr (std::is_signed_v<C>)
      return a < 0 ? Negate::apply(a) : a;
    else
      return a;
  }
};

// The parts of a complex number; a real one has the imaginary part 0.
struct RealPart {
  template <class C>
  TESSERA_FUNCTION static real_of<C> apply(C a) {
    if constexpr (is_complex<C>)
      return a.real();
    else
      return a;
  }
};
struct ImaginaryPart {
  template <class C>
  TESSERA_FUNCTION static real_of<C> apply(C a) {
    if constexpr (is_complex<C>)
      return a.imag();
    else
      return C{};
  }
};
struct Conjugate {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    if constexpr (is_complex<C>)
      return {a.real(), -a.imag()};
    else
      return a;
  }
};
/// The angle from the positive real numbers, in (-pi, pi].
struct Argument {
  template <class C>
  TESSERA_FUNCTION static real_of<C> apply(C a) {
    if constexpr (is_complex<C>)
      return std::atan2(a.imag(), a.real());
    else
      return std::atan2(Computed<C>{0}, static_cast<Computed<C>>(a));
  }
};

struct Equal {
  template <class C>
  TESSERA_FUNCTION static bool apply(C a, C b) {
    return a == b;
  }
};
struct NotEqual {
  template <class C>
  TESSERA_FUNCTION static bool apply(C a, C b) {
    return a != b;
  }
};
struct Less {
  template <class C>
  TESSERA_FUNCTION static bool apply(C a, C b) {
    return a < b;
  }
};
struct LessEqual {
  template <class C>
  TESSERA_FUNCTION static bool apply(C a, C b) {
    return a <= b;
  }
};
struct Greater {
  template <class C>
  TESSERA_FUNCTION static bool apply(C a, C b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class C>
  TESSERA_FUNCTION static bool apply(C a, C b) {
    return a >= b;
  }
};
struct And {
  TESSERA_FUNCTION static bool apply(bool a, bool b) { return a && b; }
};
struct Or {
  TESSERA_FUNCTION static bool apply(bool a, bool b) { return a || b; }
};
struct Not {
  TESSERA_FUNCTION static bool apply(bool a) { return !a; }
};
struct BitAnd {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    return static_cast<C>(a & b);
  }
};
struct BitOr {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    return static_cast<C>(a | b);
  }
};
struct BitXor {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    return static_cast<C>(a ^ b);
  }
};

/// The smaller one; NaN if either is.
struct Minimum {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (is_floating<C>)
      if (a != a) return a;
    return a < b || a == b ? a : b;
  }
};
/// The larger one; NaN if either is.
struct Maximum {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (is_floating<C>)
      if (a != a) return a;
    return a > b || a == b ? a : b;
  }
};

struct Power {
  TESSERA_HOST_FOR_SOME_TYPES
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    return std::pow(static_cast<Computed<C>>(a), static_cast<Computed<C>>(b));
  }
};

template <class T>
struct CastTo {
  template <class C>
  TESSERA_FUNCTION static T apply(C a) {
    return convert<T>(a);
  }
};

/// A member of a struct.
template <auto member>
struct Member {
  template <class C>
  TESSERA_FUNCTION static auto apply(C const& a) {
    return a.*member;
  }
};

// Functions of one floating or complex argument.
struct Sqrt {
  TESSERA_HOST_FOR_SOME_TYPES
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::sqrt(static_cast<Computed<C>>(a));
  }
};
struct Exp {
  TESSERA_HOST_FOR_SOME_TYPES
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::exp(static_cast<Computed<C>>(a));
  }
};
struct Log {
  TESSERA_HOST_FOR_SOME_TYPES
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::log(static_cast<Computed<C>>(a));
  }
};
struct Sin {
  TESSERA_HOST_FOR_SOME_TYPES
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::sin(static_cast<Computed<C>>(a));
  }
};
struct Cos {
  TESSERA_HOST_FOR_SOME_TYPES
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::cos(static_cast<Computed<C>>(a));
  }
};
struct Tan {
  TESSERA_HOST_FOR_SOME_TYPES
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::tan(static_cast<Computed<C>>(a));
  }
};
struct Tanh {
  TESSERA_HOST_FOR_SOME_TYPES
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::tanh(static_cast<Computed<C>>(a));
  }
};
struct Floor {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::floor(static_cast<Computed<C>>(a));
  }
};
struct Ceil {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::ceil(static_cast<Computed<C>>(a));
  }
};

/// Operations that only the host can do: the functions of std::complex.
template <class Op, class C>
inline constexpr bool runs_on_host_only = is_complex<C> &&
                                          (std::same_as<Op, Power> || std::same_as<Op, Sqrt> ||
                                           std::same_as<Op, Exp> || std::same_as<Op, Log> ||
                                           std::same_as<Op, Sin> || std::same_as<Op, Cos> ||
                                           std::same_as<Op, Tan> || std::same_as<Op, Tanh>);

/// Operations that complex numbers do not have: they have no order.
template <class Op>
inline constexpr bool needs_order = false;
template <>
inline constexpr bool needs_order<Less> = true;
template <>
inline constexpr bool needs_order<LessEqual> = true;
template <>
inline constexpr bool needs_order<Greater> = true;
template <>
inline constexpr bool needs_order<GreaterEqual> = true;
template <>
inline constexpr bool needs_order<Minimum> = true;
template <>
inline constexpr bool needs_order<Maximum> = true;
template <>
inline constexpr bool needs_order<Modulo> = true;
template <>
inline constexpr bool needs_order<Floor> = true;
template <>
inline constexpr bool needs_order<Ceil> = true;

/// Refuses operations that complex numbers do not have, at the place where they are written.
template <class Op, class C>
constexpr void check_order() {
  static_assert(!(needs_order<Op> && is_complex<C>),
                "complex numbers have no order: use abs(u), real(u) or imag(u)");
}

}  // namespace tessera::detail
