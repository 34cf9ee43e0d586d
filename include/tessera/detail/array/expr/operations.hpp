#pragma once
/// @file
/// The operations on one cell. Both operands are first converted to type C.

#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/array/expr/fused.hpp"
#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/functions.hpp"

namespace tessera::detail {

/// The type in which integers wrap around instead of overflowing, as NumPy's do. At least as wide
/// as unsigned, so that the result is never promoted to a signed type.
template <class C>
using Wrapping = std::common_type_t<std::make_unsigned_t<C>, unsigned>;

template <class C>
inline constexpr bool wraps = std::is_integral_v<C> && !std::same_as<C, bool>;

struct Add : SumOfFactors {
  using SumOfFactors::apply;
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (wraps<C>)
      return static_cast<C>(static_cast<Wrapping<C>>(a) + static_cast<Wrapping<C>>(b));
    else
      return static_cast<C>(a + b);  // bool: or
  }
};
struct Subtract : DifferenceOfFactors {
  using DifferenceOfFactors::apply;
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

#define TESSERA_OPERATION(Name, Result, op)          \
  struct Name {                                      \
    template <class C>                               \
    TESSERA_FUNCTION static Result apply(C a, C b) { \
      return static_cast<Result>(a op b);            \
    }                                                \
  };
TESSERA_OPERATION(Equal, bool, ==)
TESSERA_OPERATION(NotEqual, bool, !=)
TESSERA_OPERATION(Less, bool, <)
TESSERA_OPERATION(LessEqual, bool, <=)
TESSERA_OPERATION(Greater, bool, >)
TESSERA_OPERATION(GreaterEqual, bool, >=)
TESSERA_OPERATION(BitAnd, C, &)
TESSERA_OPERATION(BitOr, C, |)
TESSERA_OPERATION(BitXor, C, ^)
#undef TESSERA_OPERATION
/// All bits turned round; of a bool, its opposite.
struct BitNot {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    if constexpr (std::same_as<C, bool>)
      return !a;
    else
      return static_cast<C>(~a);
  }
};
// Shifts of bits, which all leave if the count is negative or not below the width: as in NumPy.
struct ShiftLeft {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C count) {
    constexpr Wrapping<C> width = 8 * sizeof(C);
    auto const n = static_cast<Wrapping<C>>(static_cast<std::make_unsigned_t<C>>(count));
    auto const bits = static_cast<Wrapping<C>>(a) << (n & (width - 1));
    return static_cast<C>(n < width ? bits : 0);
  }
};
/// The sign stays: what is left of a negative number is -1.
struct ShiftRight {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C count) {
    using Bits = std::make_unsigned_t<C>;
    constexpr Wrapping<C> width = 8 * sizeof(C);
    auto const n = static_cast<Wrapping<C>>(static_cast<Bits>(count));
    auto const sign = static_cast<Bits>(a < 0 ? -1 : 0);
    auto const bits = static_cast<Wrapping<C>>(static_cast<Bits>(static_cast<Bits>(a) ^ sign));
    return static_cast<C>((n < width ? bits >> (n & (width - 1)) : 0) ^ sign);
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

/// `a` if it is NaN, else `b`. By bits: of two comparisons the compiler would make branches.
template <class C>
[[nodiscard]] TESSERA_FUNCTION C nan_first(C a, C b) {
  constexpr std::size_t bytes = is_floating<C> ? sizeof(C) : 0;
  if constexpr (bytes == 0) {
    return b;
  } else if constexpr (bytes > 8) {
    return a != a ? a : b;
  } else {
    using Bits = std::conditional_t<bytes == 2, std::uint16_t,
                                    std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>;
    auto const mask = static_cast<Bits>(Bits{0} - static_cast<Bits>(a != a));
    auto const of_b = std::bit_cast<Bits>(b);
    return std::bit_cast<C>(static_cast<Bits>(of_b ^ ((std::bit_cast<Bits>(a) ^ of_b) & mask)));
  }
}
/// The smaller one; NaN if either is.
struct Minimum {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    return nan_first(a, selected(a <= b, a, b));
  }
};
/// The larger one; NaN if either is.
struct Maximum {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    return nan_first(a, selected(a >= b, a, b));
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

/// Types for which the library computes functions, many cells at once; the standard library
/// computes those of complex numbers and long doubles.
template <class C>
inline constexpr bool has_formulas = std::same_as<Computed<C>, float> || std::same_as<C, double>;

// Functions of one floating or complex argument. All but the last three have formulas.
#define TESSERA_OPERATION(Name, function)                \
  struct Name {                                          \
    TESSERA_HOST_FOR_SOME_TYPES                          \
    template <class C>                                   \
    TESSERA_FUNCTION static C apply(C a) {               \
      return std::function(static_cast<Computed<C>>(a)); \
    }                                                    \
  };
TESSERA_OPERATION(Sqrt, sqrt)
TESSERA_OPERATION(Floor, floor)
TESSERA_OPERATION(Ceil, ceil)
#undef TESSERA_OPERATION

#define TESSERA_OPERATION(Name, name)                           \
  struct Name {                                                 \
    static constexpr Function function = Function::name;        \
    TESSERA_HOST_FOR_SOME_TYPES                                 \
    template <class C>                                          \
    TESSERA_FUNCTION static C apply(C a) {                      \
      if constexpr (has_formulas<C>)                            \
        return value_of<function>(static_cast<Computed<C>>(a)); \
      else                                                      \
        return std::name(a);                                    \
    }                                                           \
  };
TESSERA_OPERATION(Exp, exp)
TESSERA_OPERATION(Exp2, exp2)
TESSERA_OPERATION(Expm1, expm1)
TESSERA_OPERATION(Log, log)
TESSERA_OPERATION(Log2, log2)
TESSERA_OPERATION(Log10, log10)
TESSERA_OPERATION(Log1p, log1p)
TESSERA_OPERATION(Sin, sin)
TESSERA_OPERATION(Cos, cos)
TESSERA_OPERATION(Tan, tan)
TESSERA_OPERATION(Asin, asin)
TESSERA_OPERATION(Acos, acos)
TESSERA_OPERATION(Atan, atan)
TESSERA_OPERATION(Sinh, sinh)
TESSERA_OPERATION(Cosh, cosh)
TESSERA_OPERATION(Tanh, tanh)
TESSERA_OPERATION(Cbrt, cbrt)
TESSERA_OPERATION(Erf, erf)
TESSERA_OPERATION(Erfc, erfc)
TESSERA_OPERATION(Tgamma, tgamma)
TESSERA_OPERATION(Lgamma, lgamma)
#undef TESSERA_OPERATION

// Functions of two.
#define TESSERA_OPERATION(Name, name)                                                        \
  struct Name {                                                                              \
    static constexpr Function2 function = Function2::name;                                   \
    TESSERA_HOST_FOR_SOME_TYPES                                                              \
    template <class C>                                                                       \
    TESSERA_FUNCTION static C apply(C a, C b) {                                              \
      if constexpr (has_formulas<C>)                                                         \
        return value_of<function>(static_cast<Computed<C>>(a), static_cast<Computed<C>>(b)); \
      else                                                                                   \
        return std::name(a, b);                                                              \
    }                                                                                        \
  };
TESSERA_OPERATION(Power, pow)
TESSERA_OPERATION(Atan2, atan2)
TESSERA_OPERATION(Hypot, hypot)
#undef TESSERA_OPERATION

/// Operations that are computed for a block of cells at once.
template <class Op, class C>
concept BlockOperation = has_formulas<C> && requires {
  Op::function;
};

template <class Op, class... Ops>
inline constexpr bool is_one_of = (std::same_as<Op, Ops> || ...);

/// Operations that only the host can do: the functions of std::complex.
template <class Op, class C>
inline constexpr bool runs_on_host_only = is_complex<C>&&
    is_one_of<Op, Power, Sqrt, Exp, Log, Log10, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh>;

/// Operations that complex numbers do not have: they have no order.
template <class Op>
inline constexpr bool needs_order =
    is_one_of<Op, Less, LessEqual, Greater, GreaterEqual, Minimum, Maximum, Modulo, Floor, Ceil>;

/// Functions that the standard library has for real numbers alone.
template <class Op>
inline constexpr bool needs_real =
    is_one_of<Op, Exp2, Expm1, Log2, Log1p, Cbrt, Erf, Erfc, Tgamma, Lgamma, Atan2, Hypot>;

/// Operations on the bits of integers and bools.
template <class Op>
inline constexpr bool needs_bits =
    is_one_of<Op, BitAnd, BitOr, BitXor, BitNot, ShiftLeft, ShiftRight>;

/// Refuses operations that elements of a type do not have, at the place where they are written.
template <class Op, class C>
constexpr void check_operation() {
  static_assert(!(needs_order<Op> && is_complex<C>),
                "complex numbers have no order: use abs(u), real(u) or imag(u)");
  static_assert(!(needs_real<Op> && is_complex<C>),
                "this function takes real numbers: use abs(u), real(u) or imag(u)");
  static_assert(!needs_bits<Op> || std::is_integral_v<C>,
                "only integers and bools have bits: cast<T>(u) to such a type first (uint64 with a "
                "signed type becomes double)");
}

}  // namespace tessera::detail
