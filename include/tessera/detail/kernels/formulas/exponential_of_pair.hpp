#pragma once
/// @file
/// The exponential of a pair, for functions that multiply it.
/// Coefficients: tools/coefficients/error_function.py.

#include "tessera/detail/kernels/formulas/polynomials.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// The number (1 + r + rest) * 2^k, with |r| <= log(2) / 2.
struct Exponential {
  double r;
  double rest;
  Rounded<double> k;
};

/// exp(x.high + x.low), for |x.high| < 2000. The remainder of the first step is exact.
TESSERA_FORMULA Exponential exponential_of(Pair<double> const& x) {
  auto const k = rounded_product(x.high, 0x1.71547652b82fep+0);
  auto const remainder = fused(-k.value, 0x1.62e42fefa39efp-1, x.high);
  auto const exponent = fast_two_sum(remainder, fused(-k.value, 0x1.abc9e3b39803fp-56, x.low));
  auto const r = exponent.high;
  auto const p = polynomial(r, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5,
                            0x1.11111111102c9p-7, 0x1.6c16c16c16142p-10, 0x1.a01a01aa26e3dp-13,
                            0x1.a01a01a71a0b0p-16, 0x1.71de08c375c80p-19, 0x1.27e4dba4bdc36p-22,
                            0x1.af3f6322d33abp-26, 0x1.1f7134f8978e5p-29);
  return {r, fused(r * r, p, exponent.low), k};
}
/// exp(x) with an error of 2^-30, for |x| < 700.
TESSERA_FORMULA double short_exponential_of(double x) {
  auto const k = rounded_product(x, 0x1.71547652b82fep+0);
  auto const r = fused(-k.value, 0x1.62e42fefa39efp-1, x);
  auto const p =
      horner(r, 1.0, 1.0, 0x1.00000028ccd8ep-1, 0x1.555555be4908fp-3, 0x1.5554c45f0f4aep-5,
             0x1.1110344042d32p-7, 0x1.6d5280693b466p-10, 0x1.a22ca294ad3cfp-13);
  return p * power_of_two<double>(as_bits(k.shifted));
}

}  // namespace tessera::detail::formula
