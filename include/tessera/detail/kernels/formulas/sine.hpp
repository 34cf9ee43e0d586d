#pragma once
/// @file
/// Sine, cosine and tangent. Floats are computed as doubles, with shorter polynomials.
/// Coefficients: tools/coefficients/circular.py.

#include <cstdint>
#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/reduction.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// The sine of high + low as `high` and what must be added to it.
TESSERA_FORMULA Pair<double> sine_near_zero(Angle const& a) {
  auto const z = a.high * a.high;
  auto const s = horner(z, -0x1.5555555555548p-3, 0x1.111111110f731p-7, -0x1.a01a019be9564p-13,
                        0x1.71de355565e13p-19, -0x1.ae5e4bb93e7f5p-26, 0x1.5d8b66c329253p-33);
  return {a.high, fused(a.high * z, s, fused(-0.5 * z, a.low, a.low))};
}
/// The cosine of high + low as 1 - high^2 / 2, rounded, and what must be added to it.
TESSERA_FORMULA Pair<double> cosine_near_zero(Angle const& a) {
  auto const z = a.high * a.high;
  auto const c = horner(z, 0x1.555555555554bp-5, -0x1.6c16c16c15015p-10, 0x1.a01a019c8f24fp-16,
                        -0x1.27e4f7f190f58p-22, 0x1.1ee9dbceca171p-29, -0x1.8fa6847993a6cp-37);
  auto const half = -0.5 * a.high;
  auto const first = fused(half, a.high, 1.0);
  auto const error = fused(half, a.high, 1.0 - first);
  return {first, fused(z * z, c, fused(-a.high, a.low, error))};
}
/// The same for floats, with errors of 2^-33.
TESSERA_FORMULA double short_sine(double r) {
  return r * horner(r * r, 1.0, -0x1.5555554c717adp-3, 0x1.1111086a31de6p-7, -0x1.a00f7f085977ep-13,
                    0x1.6cd1eb9c408c7p-19);
}
TESSERA_FORMULA double short_cosine(double r) {
  return horner(r * r, 1.0, -0x1.ffffffcb83b67p-2, 0x1.55553c78df7fep-5, -0x1.6c07f181aede7p-10,
                0x1.9916a4e5818afp-16);
}

/// The sine of a + `more` quarter turns.
template <class R>
TESSERA_FORMULA R sine_of(Angle const& a, std::uint64_t more) {
  auto const quarters = a.quarters + more;
  double s;
  double c;
  if constexpr (std::is_same_v<R, float>) {
    s = short_sine(a.high);
    c = short_cosine(a.high);
  } else {
    auto const sine = sine_near_zero(a);
    auto const cosine = cosine_near_zero(a);
    s = sine.high + sine.low;
    c = cosine.high + cosine.low;
  }
  auto const result = selected((quarters & 1U) != 0, c, s);
  return static_cast<R>(of_bits<double>(as_bits(result) ^ ((quarters & 2U) << 62U)));
}
/// The tangent of a: a quotient of pairs, by one division.
template <class R>
TESSERA_FORMULA R tangent_of(Angle const& a) {
  bool const odd = (a.quarters & 1U) != 0;
  if constexpr (std::is_same_v<R, float>) {
    auto const s = short_sine(a.high);
    auto const c = short_cosine(a.high);
    return static_cast<R>(selected(odd, -c, s) / selected(odd, s, c));
  } else {
    auto const sine = sine_near_zero(a);
    auto const cosine = cosine_near_zero(a);
    auto const s = fast_two_sum(sine.high, sine.low);
    auto const c = fast_two_sum(cosine.high, cosine.low);
    auto const below = selected(odd, s.high, c.high);
    auto const inverse = 1.0 / below;
    auto const above = selected(odd, -c.high, s.high);
    auto const quotient = above * inverse;
    auto const low = selected(odd, -c.low, s.low);
    auto const rest = fused(-quotient, selected(odd, s.low, c.low), low);
    return fused(fused(-quotient, below, above) + rest, inverse, quotient);
  }
}

/// How the arguments of these functions are reduced.
template <class R>
struct Reduction {
  static constexpr bool is_short = std::is_same_v<R, float>;

  /// Beyond, `far` is needed. NaN is as usual.
  TESSERA_FORMULA static bool is_far(R x) { return magnitude(x) > either<R>(0x1p20, 0x1p40F); }
  /// Without the sign of x, so that it is given back to a zero too.
  TESSERA_FORMULA static Angle near(R x) {
    if constexpr (is_short)
      return reduced_shortly(static_cast<double>(magnitude(x)));
    else
      return reduced_near(magnitude(x));
  }
  TESSERA_FUNCTION static Angle far(R x) {
    auto const positive = static_cast<double>(magnitude(x));
    auto const nan = not_a_number<double>();
    return positive < infinity<double>() ? reduced_far(positive) : Angle{nan, nan, 0};
  }
};

/// The sine of x radians. Error: at most 0.75 ulp (double), 0.51 ulp (float).
struct Sin {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    return with_sign_flipped_by(sine_of<R>(Reduction<R>::near(x), 0), x);
  }
  template <class R>
  TESSERA_FORMULA static bool is_rare(R x) {
    return Reduction<R>::is_far(x);
  }
  template <class R>
  TESSERA_FUNCTION static R rare(R x) {
    return with_sign_flipped_by(sine_of<R>(Reduction<R>::far(x), 0), x);
  }
};

/// The cosine of x radians. Error: at most 0.75 ulp (double), 0.51 ulp (float).
struct Cos {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    return sine_of<R>(Reduction<R>::near(x), 1);
  }
  template <class R>
  TESSERA_FORMULA static bool is_rare(R x) {
    return Reduction<R>::is_far(x);
  }
  template <class R>
  TESSERA_FUNCTION static R rare(R x) {
    return sine_of<R>(Reduction<R>::far(x), 1);
  }
};

/// The tangent of x radians. Error: at most 0.85 ulp (double), 0.51 ulp (float).
struct Tan {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    return with_sign_flipped_by(tangent_of<R>(Reduction<R>::near(x)), x);
  }
  template <class R>
  TESSERA_FORMULA static bool is_rare(R x) {
    return Reduction<R>::is_far(x);
  }
  template <class R>
  TESSERA_FUNCTION static R rare(R x) {
    return with_sign_flipped_by(tangent_of<R>(Reduction<R>::far(x)), x);
  }
};

}  // namespace tessera::detail::formula
