#pragma once
/// @file
/// Logarithms with more digits than a double has, and with fewer.
/// Coefficients: tools/coefficients/gamma.py.

#include <cstdint>

#include "tessera/detail/kernels/formulas/polynomials.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// A positive normal number y as m * 2^k with m between about sqrt(1/2) and sqrt(2).
struct Scaled {
  double m;
  double k;

  TESSERA_FORMULA static Scaled of(double y) {
    constexpr std::uint64_t shift = std::uint64_t{1024} << 52U;  // keeps the difference positive
    auto const above = as_bits(y) + (shift - as_bits(0x1.6a09e667f3bcdp-1));
    auto const k = of_bits<double>((above >> 52U) | as_bits(0x1p52)) - (0x1p52 + 1024);
    return {of_bits<double>(as_bits(y) + shift - (above & (~std::uint64_t{0} << 52U))), k};
  }
};

/// log y of a positive normal number, with an error of 2^-64 of itself or of 1: by the series of
/// atanh((m - 1) / (m + 1)), of which the first two terms and log 2 are pairs.
TESSERA_FORMULA Pair<double> logarithm_as_pair(double y) {
  auto const [m, k] = Scaled::of(y);
  auto const divisor = two_sum(1.0, m);
  auto const inverse = 1.0 / divisor.high;
  auto const s = (m - 1.0) * inverse;
  auto const s_low = (fused(-s, divisor.high, m - 1.0) - s * divisor.low) * inverse;

  auto const z = two_product(s, s);
  auto const cube = two_product(s, z.high);
  auto const cube_low = cube.low + fused(s, z.low, 3.0 * z.high * s_low);
  auto const third = two_product(cube.high, 0x1.5555555555555p-1);
  auto const third_low =
      third.low + fused(cube.high, 0x1.5555555555555p-55, cube_low * 0x1.5555555555555p-1);
  auto const q = polynomial(z.high, 0x1.9999999999996p-2, 0x1.2492492492f52p-2,
                            0x1.c71c71c5965d8p-3, 0x1.745d182975123p-3, 0x1.3b1364bfdd4d5p-3,
                            0x1.112070be14cdap-3, 0x1.de3d2c76298fdp-4, 0x1.eac815023653dp-4);

  auto const first = fast_two_sum(k * 0x1.62e42fefa3800p-1, s + s);
  auto const second = fast_two_sum(first.high, third.high);
  auto const small = fused(cube.high * z.high, q, fused(k, 0x1.ef35793c76730p-45, third_low));
  return fast_two_sum(second.high, second.low + (first.low + (fused(2.0, s_low, small))));
}
/// log y with an error of 2^-43.
TESSERA_FORMULA double short_logarithm(double y) {
  auto const [m, k] = Scaled::of(y);
  auto const s = (m - 1.0) / (m + 1.0);
  auto const z = s * s;
  auto const p = horner(z, 0x1.0000000000000p+1, 0x1.5555555555555p-1, 0x1.9999985faef80p-2,
                        0x1.24937435882ebp-2, 0x1.c6593fc988a91p-3, 0x1.8eb5aa044cee1p-3);
  return fused(k, 0x1.62e42fefa39efp-1, s * p);
}

}  // namespace tessera::detail::formula
