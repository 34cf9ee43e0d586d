#pragma once
/// @file
/// The angles of sines and cosines. Floats are computed as doubles, with a shorter polynomial.
/// Coefficients: tools/coefficients/inverse.py.

#include <cmath>
#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/polynomials.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// The arc sine of t + low, where t is |x| up to 1/2, and sqrt((1 - |x|) / 2) beyond; there the
/// angle is pi/2 - 2 asin t. NaN if |x| > 1.
template <class R>
struct Arc {
  double angle;  ///< t
  double rest;   ///< asin(t + low) - t
  bool beyond;

  TESSERA_FORMULA static Arc of(double magnitude) {
    bool const beyond = magnitude > 0.5;
    auto const z_beyond = fused(-0.5, magnitude, 0.5);  // exact
    auto const root = std::sqrt(z_beyond);
    auto const t = selected(beyond, root, magnitude);
    if constexpr (std::is_same_v<R, float>) {
      auto const z = selected(beyond, z_beyond, magnitude * magnitude);
      return {t,
              t * z *
                  horner(z, 0x1.55555605cac89p-3, 0x1.3332aa07e9779p-4, 0x1.6ddabf896c902p-5,
                         0x1.ed5d214c26339p-6, 0x1.931f5bb35a13fp-6, 0x1.ec27a2f49147ap-8,
                         0x1.1bd21088d1270p-5),
              beyond};
    } else {
      auto const divisor = selected(root > 0, root + root, 1.0);
      auto const low = selected(beyond, fused(-root, root, z_beyond) / divisor, 0.0);
      auto const z = selected(beyond, z_beyond, magnitude * magnitude);
      auto const p = polynomial(z, 0x1.5555555555577p-3, 0x1.333333332e132p-4, 0x1.6db6db7212efep-5,
                                0x1.f1c71a9483966p-6, 0x1.6e8bdef29cfb4p-6, 0x1.1c49eeb14081ep-6,
                                0x1.ca1fbda0f8954p-7, 0x1.7583c3aa7ddb2p-7, 0x1.6147abbefd4dap-7,
                                0x1.e53d28b3bea17p-9, 0x1.63d91a271cdcap-6, -0x1.58595b54f6c68p-6,
                                0x1.0b653c950008cp-5);
      return {t, fused(t * z, p, low), beyond};
    }
  }
  /// base * pi/2 + factor * (angle + rest), where `base` is 0, 1 or 2.
  TESSERA_FORMULA double from(double base, double factor) const {
    auto const total = fast_two_sum(base * 0x1.921fb54442d18p+0, factor * angle);
    auto const low = fused(base, 0x1.1a62633145c07p-54, factor * rest);
    return total.high + (total.low + low);
  }
};

/// The angle between -pi/2 and pi/2 whose sine is x. Error: at most 0.7 ulp (double), 0.51 ulp
/// (float).
struct Asin {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const arc = Arc<R>::of(static_cast<double>(magnitude(x)));
    auto const angle = arc.from(selected(arc.beyond, 1.0, 0.0), selected(arc.beyond, -2.0, 1.0));
    return with_sign_flipped_by(static_cast<R>(angle), x);
  }
};

/// The angle between 0 and pi whose cosine is x. Error: at most 0.7 ulp (double), 0.51 ulp (float).
struct Acos {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const arc = Arc<R>::of(static_cast<double>(magnitude(x)));
    bool const is_left = x < 0;
    auto const base = selected(arc.beyond, selected(is_left, 2.0, 0.0), 1.0);
    auto const factor = selected(arc.beyond, 2.0, 1.0);
    return static_cast<R>(arc.from(base, selected(arc.beyond != is_left, factor, -factor)));
  }
};

}  // namespace tessera::detail::formula
