#pragma once
/// @file
/// What is computed for one cell. C is the type both operands are converted to first.

#include <cmath>
#include <concepts>
#include <type_traits>

#include "tessera/base/function.hpp"
#include "tessera/expr/convert.hpp"

namespace tessera::detail {

/// The type in which integers wrap around instead of overflowing, as NumPy's do. At least as wide
/// as unsigned, so that nothing is widened to a signed type behind it.
template <class C>
using Wrapping = std::common_type_t<std::make_unsigned_t<C>, unsigned>;

template <class C>
inline constexpr bool wraps = std::is_integral_v<C> && !std::same_as<C, bool>;

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
    else
      return static_cast<C>(a * b);
  }
};
/// True division: C is a floating type.
struct Divide {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    return a / b;
  }
};
/// The remainder with the sign of the divisor; integers modulo 0 are 0.
struct Modulo {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (std::is_floating_point_v<C>) {
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
struct Absolute {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    if constexpr (std::is_floating_point_v<C>) return std::fabs(a);
    if constexpr (std::is_signed_v<C> && !std::is_floating_point_v<C>)
      return a < 0 ? Negate::apply(a) : a;
    return a;
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
    if constexpr (std::is_floating_point_v<C>)
      if (a != a) return a;
    return a < b || a == b ? a : b;
  }
};
/// The larger one; NaN if either is.
struct Maximum {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    if constexpr (std::is_floating_point_v<C>)
      if (a != a) return a;
    return a > b || a == b ? a : b;
  }
};

struct Power {
  template <class C>
  TESSERA_FUNCTION static C apply(C a, C b) {
    return std::pow(a, b);
  }
};

template <class T>
struct CastTo {
  template <class C>
  TESSERA_FUNCTION static T apply(C a) {
    return convert<T>(a);
  }
};

// Functions of one floating argument.
struct Sqrt {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::sqrt(a);
  }
};
struct Exp {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::exp(a);
  }
};
struct Log {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::log(a);
  }
};
struct Sin {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::sin(a);
  }
};
struct Cos {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::cos(a);
  }
};
struct Tan {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::tan(a);
  }
};
struct Tanh {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::tanh(a);
  }
};
struct Floor {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::floor(a);
  }
};
struct Ceil {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return std::ceil(a);
  }
};

}  // namespace tessera::detail
