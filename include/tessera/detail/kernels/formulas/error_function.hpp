#pragma once
/// @file
/// The error function and its complement. Floats are computed as doubles, with shorter polynomials.
/// Coefficients: tools/coefficients/error_function.py.

#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/exponential_of_pair.hpp"
#include "tessera/detail/kernels/formulas/polynomials.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// erf x for |x| <= 0.7.
TESSERA_FORMULA double error_near_zero(double x) {
  auto const z = x * x;
  auto const p = polynomial(z, -0x1.812746b0379e5p-2, 0x1.ce2f21a042949p-4, -0x1.b82ce312736e7p-6,
                            0x1.565bcd0902d40p-8, -0x1.c02db26bb17bdp-11, 0x1.f9a2dda77cc30p-14,
                            -0x1.f4c9d76f276e8p-17, 0x1.b943c2a0f5ca7p-20, -0x1.57d5e4ff99a7bp-23,
                            0x1.93bcee1a94859p-27);
  auto const first = two_product(x, 0x1.20dd750429b6dp+0);
  return first.high + fused(x * z, p, fused(x, 0x1.1ae3a914fed80p-56, first.low));
}
/// The same with an error of 2^-36.
TESSERA_FORMULA double short_error_near_zero(double x) {
  return x * horner(x * x, 0x1.20dd750429b6dp+0, -0x1.81274693b61fep-2, 0x1.ce2f106ef6ff3p-4,
                    -0x1.b8296a8da243cp-6, 0x1.5608d620dcde9p-8, -0x1.b8457726b08eep-11,
                    0x1.98bdf9ce9f487p-14);
}

/// (1 + 1.5 x) exp(x^2) erfc x - 1 for 0 <= x <= 28, by a polynomial in q = (x - 5) / (x + 5). The
/// factor 1 + q makes the relative error small where x is.
/// Source: Shepherd and Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x (1981).
TESSERA_FORMULA double scaled_complement(double x) {
  auto const of_one = (x + x) / (x + 5.0);
  return of_one * polynomial(of_one - 1.0, -0x1.e36a27827f147p-5, -0x1.7fd2e52e34662p-4,
                             0x1.67be9c2d73daep-3, -0x1.94bebcc21f17ap-3, 0x1.6d5bfd05ca90ep-3,
                             -0x1.1b75baed0d253p-3, 0x1.830b9953c2ce9p-4, -0x1.d42af5cf3e20dp-5,
                             0x1.f4254b67e081ap-6, -0x1.d24de56cbea4ap-7, 0x1.722972d217803p-8,
                             -0x1.db501aa83c19ap-10, 0x1.af344561a53d0p-12, -0x1.e56a91a14e5edp-16,
                             -0x1.9f49d37631015p-16, 0x1.9a94f0b8c51c5p-17, -0x1.04afb88969843p-19,
                             -0x1.4ad7ba6b4e979p-21, 0x1.af044e8b6c6aap-22, -0x1.6e9349774a531p-25,
                             -0x1.3f61eb1384831p-25, 0x1.7e92a119da106p-27, 0x1.58b00a8b88b17p-29,
                             -0x1.6807d01854e38p-31);
}

/// erfc x for x >= 0: a pair near (1 + 1.5 x) exp(x^2) erfc x, divided by 1 + 1.5 x, times
/// exp(-x^2).
TESSERA_FORMULA double complement(double x) {
  auto const a = selected(x > 28.0, 28.0, x);
  auto const above = fast_two_sum(1.0, scaled_complement(a));
  auto const below = fused(1.5, a, 1.0);
  auto const below_low = fused(1.5, a, 1.0 - below);
  auto const inverse = 1.0 / below;
  auto const g = above.high * inverse;
  auto const residue = fused(-g, below, above.high) + fused(-g, below_low, above.low);

  auto const square = two_product(a, a);
  auto const e = exponential_of({-square.high, -square.low});
  auto const g_low = residue * inverse;
  return times_power_of_two(g + fused(g, e.r, fused(g, e.rest, fused(g_low, e.r, g_low))), e.k);
}
/// The same with an error of 2^-30, and 0 for x > 11.
TESSERA_FORMULA double short_complement(double x) {
  auto const a = selected(x > 11.0, 11.0, x);
  auto const second = fused(1.5, a, 1.0);
  auto const inverse = 1.0 / (second * (a + 4.0));
  auto const q = (a - 4.0) * second * inverse;
  auto const p = horner(q, -0x1.4fe731b07327ep-5, -0x1.0720069e4dd85p-3, 0x1.8ebb93ae5f5b8p-3,
                        -0x1.7a3c5344c2890p-3, 0x1.16d42b9ad0bcap-3, -0x1.4e5536da66c9fp-4,
                        0x1.453b65e9367c9p-5, -0x1.ecb4a1aa743bap-7, 0x1.ffa5fb6cc425fp-9,
                        -0x1.5abda5bfdcc21p-12, -0x1.026cdabd35694p-12, 0x1.ee0e11bf28737p-14,
                        -0x1.93de710a1fc64p-19, -0x1.8e53f2c11802cp-17);
  auto const g = fused(1.0 + q, p, 1.0) * ((a + 4.0) * inverse);

  return g * short_exponential_of(-(a * a));
}
template <class R>
TESSERA_FORMULA double complement_for(double x) {
  if constexpr (std::is_same_v<R, float>)
    return short_complement(x);
  else
    return complement(x);
}

/// The error function of x. Error: at most 0.9 ulp (double), 0.51 ulp (float).
struct Erf {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const a = static_cast<double>(magnitude(x));
    auto const beyond = 1.0 - complement_for<R>(a);
    double near;
    if constexpr (std::is_same_v<R, float>)
      near = short_error_near_zero(a);
    else
      near = error_near_zero(a);
    return with_sign_flipped_by(static_cast<R>(selected(a > 0.7, beyond, near)), x);
  }
};

/// 1 - erf x, with all its digits. Error: at most 1.4 ulp (double), 0.51 ulp (float).
struct Erfc {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const positive = complement_for<R>(static_cast<double>(magnitude(x)));
    return static_cast<R>(selected(x < 0, 2.0 - positive, positive));
  }
};

}  // namespace tessera::detail::formula
