#pragma once
/// @file
/// The gamma function. Floats are computed as doubles, with shorter polynomials.
/// Coefficients: tools/coefficients/gamma.py.

#include <cmath>
#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/exponential_of_pair.hpp"
#include "tessera/detail/kernels/formulas/logarithm_as_pair.hpp"
#include "tessera/detail/kernels/formulas/polynomials.hpp"
#include "tessera/detail/kernels/formulas/reduction.hpp"
#include "tessera/detail/kernels/formulas/sine.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// Gamma(x) = (high + low) * 2^k for x >= 0. The first part of `Tgamma`.
///
/// With y = x or, if x < 2, y = x + 2: Gamma(y) = sqrt(2 pi) y^(y - 1/2) exp(-y) (1 + u(1 / y)),
/// where u is small, and Gamma(x) = Gamma(x + 2) / (x (x + 1)).
struct GammaParts {
  double high;
  double low;
  Rounded<double> k;

  TESSERA_FORMULA static GammaParts of(double x, double largest) {
    bool const below = x < 2.0;
    auto const sum = two_sum(x, 2.0);
    auto const raised = blended(below, sum.high, x);
    auto const y = blended(raised > largest, largest, raised);
    auto const w = 1.0 / y;
    auto const e = exponential_of(exponent(y, w, blended(below, sum.low, 0.0)));
    auto const u =
        w * polynomial(w, 0x1.55555555556c1p-4, 0x1.c71c71c5064f8p-9, -0x1.5f726863689f9p-9,
                       -0x1.e13e031b55738p-13, 0x1.9b1555893b301p-11, 0x1.227b7a28e8d59p-14,
                       -0x1.34b1403eedfafp-11, -0x1.0bac31ec80a50p-14, 0x1.aee54deca132dp-11,
                       0x1.19a270adc92a9p-11, -0x1.2ef47cf4086efp-8, 0x1.16973ff2b7b33p-7,
                       -0x1.129fe0113ceb9p-7, 0x1.2c26bb6eb8e70p-8, -0x1.2069584698f37p-10);
    auto const one = fast_two_sum(1.0, e.r);
    auto const numerator = fast_two_sum(one.high, one.low + (e.rest + fused(u, e.r + e.rest, u)));

    auto const square = two_product(x, x);
    auto const product = two_sum(square.high, x);
    auto const divisor = blended(below, product.high, 1.0);
    auto const divisor_low = blended(below, product.low + square.low, 0.0);
    auto const inverse = 1.0 / divisor;
    auto const q = numerator.high * inverse;
    auto const residue = fused(-q, divisor, numerator.high) + fused(-q, divisor_low, numerator.low);
    bool const tiny = x < 0x1p-500;  // Gamma(x) is 1 / x, and products would underflow
    return {blended(tiny, inverse, q), blended(tiny, 0.0, residue * inverse), e.k};
  }

 private:
  /// (y - 1/2) log(y) - y + log(sqrt(2 pi)) at y + low.
  TESSERA_FORMULA static Pair<double> exponent(double y, double w, double low) {
    auto const log = logarithm_as_pair(y);
    auto const product = two_product(y - 0.5, log.high);
    auto const product_low = fused(y - 0.5, log.low, product.low);
    auto const difference = two_sum(product.high, -y);
    auto const sum = two_sum(difference.high, 0x1.d67f1c864beb5p-1);
    auto const slope = fused(-0.5, w, log.high);
    auto const rest = fused(low, slope, product_low - 0x1.65b5a1b7ff5dfp-55);
    return fast_two_sum(sum.high, sum.low + (difference.low + rest));
  }
};

/// Gamma(x) for 0 <= x <= 64 with an error of 2^-29.
TESSERA_FORMULA double short_gamma(double x) {
  bool const below = x < 2.0;
  auto const raised = blended(below, x + 2.0, x);
  auto const y = blended(raised > 64.0, 64.0, raised);
  auto const w = 1.0 / y;
  auto const u = w * horner(w, 0x1.555556ee22620p-4, 0x1.c71251ffeefa4p-9, -0x1.5ebe94266317dp-9,
                            -0x1.20e0ad154fbd3p-12, 0x1.05a06128bdafbp-10, -0x1.f16b324b2f871p-12,
                            0x1.b76eb8dcb9688p-15);
  auto const exponent = fused(y - 0.5, short_logarithm(y), 0x1.d67f1c864beb5p-1 - y);
  auto const e = short_exponential_of(exponent);
  return fused(e, u, e) / blended(below, fused(x, x, x), 1.0);
}

/// sin(pi x) for x >= 0.
TESSERA_FUNCTION inline Pair<double> sine_of_half_turns(double x) {
  auto const whole = std::floor(x);
  auto const part = x - whole;  // exact, as all differences here
  auto const folded = part > 0.5 ? 1.0 - part : part;
  bool const near_top = folded > 0.25;
  auto const turned = near_top ? 0.5 - folded : folded;
  auto const angle = two_product(turned, 0x1.921fb54442d18p+1);
  Angle const a{angle.high, fused(turned, 0x1.1a62633145c07p-53, angle.low), 0};
  auto const result = near_top ? cosine_near_zero(a) : sine_near_zero(a);
  bool const is_negative = whole * 0.5 != std::floor(whole * 0.5);
  double const sign = is_negative ? -1.0 : 1.0;
  return fast_two_sum(sign * result.high, sign * result.low);
}

/// The gamma function of x; NaN for negative integers, infinite for zeros.
/// Error: at most 0.8 ulp (double), 0.51 ulp (float).
struct Tgamma {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const given = static_cast<double>(x);
    if constexpr (std::is_same_v<R, float>) {
      return static_cast<R>(short_gamma(given));
    } else {
      auto const g = GammaParts::of(given, 172.0);
      return times_power_of_two(g.high + g.low, g.k);
    }
  }
  /// Negative numbers and the negative zero.
  template <class R>
  TESSERA_FORMULA static bool is_rare(R x) {
    return (std::copysign(R{1}, x) < 0) & (x == x);
  }
  /// By the reflection Gamma(-a) = -pi / (a Gamma(a) sin(pi a)).
  template <class R>
  TESSERA_FUNCTION static R rare(R x) {
    auto const a = -static_cast<double>(x);
    if (a < 0x1p-100) return static_cast<R>(-1.0 / a);
    auto const sine = sine_of_half_turns(a);
    if (std::floor(a) == a) return not_a_number<R>();
    if (a > 190.0) return static_cast<R>(sine.high > 0 ? -0.0 : 0.0);
    auto const g = GammaParts::of(a, 192.0);
    auto const first = product_of({a, 0.0}, {g.high, g.low});
    auto const divisor = product_of(first, sine);
    auto const q = -0x1.921fb54442d18p+1 / divisor.high;
    auto const residue = fused(-q, divisor.high, -0x1.921fb54442d18p+1) +
                         fused(-q, divisor.low, -0x1.1a62633145c07p-53);
    Rounded<double> const k{-g.k.value, integer_shift<double> - g.k.value};
    return static_cast<R>(times_power_of_two(q + residue / divisor.high, k));
  }

 private:
  TESSERA_FUNCTION static Pair<double> product_of(Pair<double> const& a, Pair<double> const& b) {
    auto const high = two_product(a.high, b.high);
    return fast_two_sum(high.high, high.low + fused(a.high, b.low, a.low * b.high));
  }
};

}  // namespace tessera::detail::formula
