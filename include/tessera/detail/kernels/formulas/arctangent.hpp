#pragma once
/// @file
/// The angle of a quotient, of one and of two arguments. Floats are computed as doubles.
/// Coefficients: tools/coefficients/inverse.py.

#include <cmath>
#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/polynomials.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// (atan t - t) / t for |t| <= tan(pi/8).
TESSERA_FORMULA double arctangent_rest(double t) {
  double const z = t * t;
  return z * polynomial(z, -0x1.555555555553dp-2, 0x1.9999999995869p-3, -0x1.24924922ad4bcp-3,
                        0x1.c71c70e604938p-4, -0x1.745cf8db10c96p-4, 0x1.3b111904bf4e2p-4,
                        -0x1.10ebb756b0cc5p-4, 0x1.df0f3fce986d8p-5, -0x1.9cd2951e9c90dp-5,
                        0x1.37d55e2909705p-5, -0x1.256a0252f4d1fp-6);
}
/// The same with an error of 2^-35.
TESSERA_FORMULA double short_arctangent_rest(double t) {
  double const z = t * t;
  return z * horner(z, -0x1.555554c60b5d4p-2, 0x1.999918a3c2d40p-3, -0x1.247eda94c0f94p-3,
                    0x1.c464014df87dfp-4, -0x1.5b303792de292p-4, 0x1.84a2404d31be5p-5);
}

/// The angle of the point (x, y), both not negative, which is mirrored if `is_left`.
///
/// Mirrors at the diagonal make y <= x, and a turn by pi/4 then makes |y / x| <= tan(pi/8):
///
///     y' = min(x, y)      y" = y' - x'          the angle is eighths * pi/4 + atan(y" / x") or
///     x' = max(x, y)      x" = x' + y'          eighths * pi/4 - atan(y" / x")
///
/// An infinite coordinate is far beyond a finite one, and the angle of the origin is 0.
template <class R>
struct Direction {
  static constexpr bool is_short = std::is_same_v<R, float>;
  double above;      ///< y", rounded
  double below;      ///< x", rounded
  double above_low;  ///< what rounding has left
  double below_low;
  double eighths;
  double sign;

  TESSERA_FORMULA static Direction of(double y, double x, bool is_left) {
    bool const steep = y > x;
    auto const larger = selected(steep, y, x);
    auto const smaller = selected(steep, x, y);
    bool const far = larger == infinity<double>();
    auto const of_infinity = blended(smaller == infinity<double>(), 1.0, smaller * 0.0);
    auto const numerator = blended(far, of_infinity, smaller);
    auto const denominator = blended(far | (larger == 0), 1.0, larger);
    return turned(numerator, denominator, steep, is_left);
  }
  TESSERA_FORMULA static Direction turned(double y, double x, bool steep, bool is_left) {
    bool const turns = y > 0x1.a827999fcef32p-2 * x;
    auto const difference = fast_two_sum(x, -y);
    auto const sum = fast_two_sum(x, y);
    auto const quarter = selected(turns, 1.0, 0.0);
    auto const half = selected(steep, 2.0 - quarter, quarter);
    return {selected(turns, -difference.high, y),  selected(turns, sum.high, x),
            selected(turns, -difference.low, 0.0), selected(turns, sum.low, 0.0),
            selected(is_left, 4.0 - half, half),   selected(steep != is_left, -1.0, 1.0)};
  }
  TESSERA_FORMULA double angle() const {
    auto const base = eighths * 0x1.921fb54442d18p-1;
    if constexpr (is_short) {
      auto const t = above / below;
      return fused(sign, fused(t, short_arctangent_rest(t), t), base);
    } else {
      auto const t = above / below;
      auto const residue = fused(-t, below, above) + fused(-t, below_low, above_low);
      auto const t_low = residue * (1.0 / below);
      auto const low = fused(t, arctangent_rest(t), fused(-t * t, t_low, t_low));
      auto const base_low =
          fused(eighths, 0x1.1a62633145c07p-55, fused(eighths, 0x1.921fb54442d18p-1, -base));
      auto const total = fast_two_sum(base, sign * t);
      return total.high + (total.low + fused(sign, low, base_low));
    }
  }
};

/// The angle whose tangent is x. Error: at most 0.7 ulp (double), 0.51 ulp (float).
struct Atan {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const a = static_cast<double>(magnitude(x));
    auto const finite = blended(a > 0x1p200, 0x1p200, a);
    bool const steep = finite > 1.0;
    auto const d = Direction<R>::turned(blended(steep, 1.0, finite), blended(steep, finite, 1.0),
                                        steep, false);
    return with_sign_flipped_by(static_cast<R>(d.angle()), x);
  }
};

/// The angle of the point (x, y). Error: at most 0.7 ulp (double), 0.51 ulp (float); 1 ulp if the
/// result is about as small as subnormal numbers.
struct Atan2 {
  template <class R>
  TESSERA_FORMULA static R usual(R y, R x) {
    bool const is_left = std::copysign(R{1}, x) < 0;
    auto const a = static_cast<double>(magnitude(y));
    auto const b = static_cast<double>(magnitude(x));
    auto const scale = scale_for<R>(selected(a > b, a, b));
    auto const d = Direction<R>::of(a * scale, b * scale, is_left);
    return with_sign_flipped_by(static_cast<R>(d.angle()), y);
  }

 private:
  /// A factor that keeps sums finite, reciprocals normal and residues exact.
  template <class R>
  TESSERA_FORMULA static double scale_for(double larger) {
    if constexpr (std::is_same_v<R, float>)
      return 1.0;
    else
      return blended(larger > 0x1p1000, 0x1p-100, blended(larger < 0x1p-800, 0x1p150, 1.0));
  }
};

}  // namespace tessera::detail::formula
