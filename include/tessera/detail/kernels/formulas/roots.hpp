#pragma once
/// @file
/// The cube root, and the square root of a sum of two squares. Floats are computed as doubles.
/// Coefficients: tools/coefficients/inverse.py.

#include <cmath>
#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/polynomials.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// The cube root of x. Error: at most 0.51 ulp.
///
/// Of x = m 2^r 2^(3q), with 1 <= m < 2 and r = -1, 0 or 1, the root is a power of two times the
/// root of a = m 2^r. A polynomial gives w near 1 / cbrt(a) without a division; a step of higher
/// order makes it better, and y = a w^2 is near cbrt(a).
struct Cbrt {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const given = static_cast<double>(magnitude(x));
    auto const root = with_sign_flipped_by(static_cast<R>(positive<R>(given)), x);
    bool const is_number = (given > 0) & (given < infinity<double>());
    return selected(is_number, root, x);
  }

 private:
  template <class R>
  TESSERA_FORMULA static double positive(double given) {
    using F = Format<double>;
    constexpr bool is_short = std::is_same_v<R, float>;
    bool const subnormal = !is_short && given < 0x1p-1022;
    auto const bits = as_bits(blended(subnormal, given * 0x1p54, given));
    auto const m = of_bits<double>((bits & F::fraction) | F::one);
    auto const exponent = of_bits<double>((bits >> 52U) | as_bits(0x1p52)) - 0x1p52;
    auto const third = rounded_product(exponent, 0x1.5555555555555p-2);
    auto const r = fused(-3.0, third.value, exponent);
    auto const a = m * blended(r > 0, 2.0, blended(r < 0, 0.5, 1.0));
    auto const factor =
        blended(r > 0, 0x1.965fea53d6e3dp-1, blended(r < 0, 0x1.428a2f98d728bp+0, 1.0));
    auto const w =
        factor * horner(m, 0x1.c722558d2b7cfp+0, -0x1.8e3b61b0780dbp+0, 0x1.3afb3c1494aedp+0,
                        -0x1.2dcc36683a969p-1, 0x1.3a4fc65958082p-3, -0x1.11af78f998587p-6);
    // The exponent has the bias 1023 = 3 * 341.
    auto const scale = power_of_two<double>(as_bits(third.shifted) - 341U);
    auto const root = is_short ? short_root(a, w) : exact_root(a, w);
    return root * scale * blended(subnormal, 0x1p-18, 1.0);
  }
  /// With h = 1 - a w^3, 1 / cbrt(a) is w (1 - h)^(-1/3) = w (1 + h/3 + 2/9 h^2 + ...).
  TESSERA_FORMULA static double short_root(double a, double w) {
    auto const h = fused(-a * w, w * w, 1.0);
    auto const better = fused(w * h, fused(h, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), w);
    return a * (better * better);
  }
  /// The same, and a step of Newton's with the exact residue of y.
  TESSERA_FORMULA static double exact_root(double a, double w) {
    auto const h = fused(-a * w, w * w, 1.0);
    auto const better = fused(w * h, fused(h, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), w);
    auto const y = a * (better * better);
    auto const square = two_product(y, y);
    auto const residue = fused(-square.low, y, fused(-square.high, y, a));
    return fused(residue, better * better * 0x1.5555555555555p-2, y);
  }
};

/// sqrt(x^2 + y^2), which neither overflows nor underflows before the end; infinite if x or y is,
/// even beside NaN. Error: at most 0.51 ulp; 0.76 ulp if the result is subnormal.
struct Hypot {
  template <class R>
  TESSERA_FORMULA static R usual(R x, R y) {
    auto const a = static_cast<double>(magnitude(x));
    auto const b = static_cast<double>(magnitude(y));
    constexpr auto infinite = infinity<double>();
    auto const root = std::is_same_v<R, float> ? std::sqrt(fused(a, a, b * b)) : scaled_root(a, b);
    return static_cast<R>(selected((a == infinite) | (b == infinite), infinite, root));
  }

 private:
  TESSERA_FORMULA static double scaled_root(double a, double b) {
    bool const b_is_larger = b > a;
    auto const larger = blended(b_is_larger, b, a);
    auto const smaller = blended(b_is_larger, a, b);
    bool const huge = larger > 0x1p500;
    bool const tiny = larger < 0x1p-400;
    auto const scale = blended(huge, 0x1p-600, blended(tiny, 0x1p700, 1.0));
    auto const back = blended(huge, 0x1p600, blended(tiny, 0x1p-700, 1.0));
    auto const first = two_product(larger * scale, larger * scale);
    auto const second = two_product(smaller * scale, smaller * scale);
    auto const sum = fast_two_sum(first.high, second.high);
    auto const root = std::sqrt(sum.high);
    auto const residue = fused(-root, root, sum.high) + (sum.low + (first.low + second.low));
    return (root + residue / blended(root > 0, root + root, 1.0)) * back;
  }
};

}  // namespace tessera::detail::formula
