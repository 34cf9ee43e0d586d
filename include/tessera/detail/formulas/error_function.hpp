#pragma once
/// @file
/// The error function and its complement. Floats are computed as doubles, with shorter polynomials.
/// Coefficients: tools/coefficients/error_function.py.

#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/formulas/steps.hpp"

namespace tessera::detail::formula {

/// erf x for |x| <= 1.
TESSERA_FORMULA double error_near_zero(double x) {
  auto const z = x * x;
  auto const p = horner(z, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b1bp-4, -0x1.b82ce31284430p-6,
                        0x1.565bcd0d9d694p-8, -0x1.c02db3d4e18f7p-11, 0x1.f9a3211cf6b88p-14,
                        -0x1.f4d1d4824fafbp-17, 0x1.b9de605b47f56p-20, -0x1.5f1833b3999b5p-23,
                        0x1.f76c7246b5025p-27, -0x1.37ba9c6261bb7p-30, 0x1.0393fc9e612edp-34);
  auto const first = two_product(x, 0x1.20dd750429b6dp+0);
  return first.high + fused(x * z, p, fused(x, 0x1.1ae3a914fed80p-56, first.low));
}
/// The same with an error of 2^-34.
TESSERA_FORMULA double short_error_near_zero(double x) {
  return x * horner(x * x, 0x1.20dd750429b6dp+0, -0x1.81274678e8de4p-2, 0x1.ce2f0be350af3p-4,
                    -0x1.b829f96bd16d0p-6, 0x1.562c0b5e70b9ap-8, -0x1.bcdf1b80c17c1p-11,
                    0x1.d8d3426ae57adp-14, -0x1.44f30ceeb1612p-17);
}

/// (1 + 2x) exp(x^2) erfc x - 1 for 0 <= x <= 28, by a polynomial in q = (x - 5) / (x + 5). The
/// factor 1 + q makes the relative error small where x is.
/// Source: Shepherd and Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x (1981).
TESSERA_FORMULA double scaled_complement(double x) {
  auto const of_one = (x + x) / (x + 5.0);
  return of_one * horner(of_one - 1.0, 0x1.bdf43e82f500ep-3, -0x1.66abe746ff732p-2,
                         0x1.9574248b3cac9p-2, -0x1.7d7e6184b9e35p-2, 0x1.39dcd5a81ede2p-2,
                         -0x1.cc012cc45aa0cp-3, 0x1.2e13470d97f10p-3, -0x1.631df0e7dabcdp-4,
                         0x1.730960bb2e0b7p-5, -0x1.53a0c97defbd9p-6, 0x1.0936b8bc48f7ap-7,
                         -0x1.4eecdabb513dcp-9, 0x1.28f2538f343adp-11, -0x1.26c4c574a673cp-15,
                         -0x1.2c49cf472fedap-15, 0x1.1d3807d539a8dp-16, -0x1.57587a5bf3e38p-19,
                         -0x1.e220180ee3458p-21, 0x1.298f4a2f02fefp-21, -0x1.cc17c3e7e6df9p-25,
                         -0x1.c4b79914e249cp-25, 0x1.fe940e2d2fe5dp-27, 0x1.fd0ff59a25640p-29,
                         -0x1.c4185f40e3f6fp-31);
}

/// erfc x for x >= 0: a pair near (1 + 2x) exp(x^2) erfc x, divided by 1 + 2x, times exp(-x^2).
TESSERA_FORMULA double complement(double x) {
  auto const a = selected(x > 28.0, 28.0, x);
  auto const above = fast_two_sum(1.0, scaled_complement(a));
  auto const below = two_sum(1.0, a + a);
  auto const inverse = 1.0 / below.high;
  auto const g = above.high * inverse;
  auto const residue = fused(-g, below.high, above.high) + fused(-g, below.low, above.low);

  auto const square = two_product(a, a);
  auto const k = rounded_product(-square.high, 0x1.71547652b82fep+0);
  auto const remainder = fused(-k.value, 0x1.62e42fefa39efp-1, -square.high);  // exact
  auto const exponent =
      fast_two_sum(remainder, fused(-k.value, 0x1.abc9e3b39803fp-56, -square.low));
  auto const r = exponent.high;
  auto const p = horner(r, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
                        0x1.11111111102c9p-7, 0x1.6c16c16c16142p-10, 0x1.a01a01aa26e3dp-13,
                        0x1.a01a01a71a0b0p-16, 0x1.71de08c375c80p-19, 0x1.27e4dba4bdc36p-22,
                        0x1.af3f6322d33abp-26, 0x1.1f7134f8978e5p-29);
  auto const rest = fused(r * r, p, exponent.low);  // 1 + r + rest = exp(remainder)
  return times_power_of_two(g + fused(g, r, fused(g, rest, residue * inverse)), k);
}
/// The same with an error of 2^-30, and 0 for x > 11.
TESSERA_FORMULA double short_complement(double x) {
  auto const a = selected(x > 11.0, 11.0, x);
  auto const second = fused(2.0, a, 1.0);
  auto const inverse = 1.0 / (second * (a + 4.0));
  auto const q = (a - 4.0) * second * inverse;
  auto const p = horner(q, 0x1.dd2c8b74fff53p-3, -0x1.7d8f1c45bca91p-2, 0x1.8d4ecb404e7d5p-2,
                        -0x1.47938f1de95c9p-2, 0x1.c0398cc2bc94cp-3, -0x1.0042949ee2f3ap-3,
                        0x1.e1a9472eabb1dp-5, -0x1.625c76af7a6ebp-6, 0x1.63fa78793ed39p-8,
                        -0x1.a53f5fb9aaab3p-12, -0x1.7b0619502e7a9p-12, 0x1.560317f7e4d6ep-13,
                        -0x1.4870759e50419p-20, -0x1.0d33c34e486aep-16);
  auto const g = fused(1.0 + q, p, 1.0) * ((a + 4.0) * inverse);

  auto const k = rounded_product(-(a * a), 0x1.71547652b82fep+0);
  auto const r = fused(-k.value, 0x1.62e42fefa39efp-1, -(a * a));
  auto const exponential =
      horner(r, 1.0, 1.0, 0x1.00000028ccd8ep-1, 0x1.555555be4908fp-3, 0x1.5554c45f0f4aep-5,
             0x1.1110344042d32p-7, 0x1.6d5280693b466p-10, 0x1.a22ca294ad3cfp-13);
  return g * exponential * power_of_two<double>(as_bits(k.shifted));
}
template <class R>
TESSERA_FORMULA double complement_for(double x) {
  if constexpr (std::is_same_v<R, float>)
    return short_complement(x);
  else
    return complement(x);
}

/// The error function of x. Error: at most 0.8 ulp (double), 0.51 ulp (float).
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
    return with_sign_flipped_by(static_cast<R>(selected(a > 1.0, beyond, near)), x);
  }
};

/// 1 - erf x, with all its digits. Error: at most 1.3 ulp (double), 0.51 ulp (float).
struct Erfc {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const positive = complement_for<R>(static_cast<double>(magnitude(x)));
    return static_cast<R>(selected(x < 0, 2.0 - positive, positive));
  }
};

}  // namespace tessera::detail::formula
