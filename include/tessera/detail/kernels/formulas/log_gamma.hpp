#pragma once
/// @file
/// The logarithm of the gamma function. Floats are computed as doubles, with shorter polynomials.
/// Coefficients: tools/coefficients/gamma.py.

#include <cmath>
#include <limits>
#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/gamma.hpp"
#include "tessera/detail/kernels/formulas/logarithm_as_pair.hpp"
#include "tessera/detail/kernels/formulas/polynomials.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// log Gamma(x) for x > 0, in one of three ways:
///
///     x < 0.75           log Gamma(x + 1) - log x, by the second way
///     0.75 <= x < 2.5    (x - 1) (x - 2) P(x), whose zeros are exact
///     2.5 <= x           (x - 1/2) log x - x + log(sqrt(2 pi)) + a polynomial in 1 / x
struct LogGamma {
  /// Too large numbers and infinity become this one, whose result overflows.
  static constexpr double largest = std::numeric_limits<double>::max();

  TESSERA_FORMULA static Pair<double> of(double given) {
    auto const x = blended(given > largest, largest, given);
    bool const subnormal = x < 0x1p-1022;
    auto const log = logarithm_as_pair(blended(subnormal, x * 0x1p54, x));
    // Such a small x has the result -log x.
    auto const shift = blended(subnormal, -0x1.2b708872320e2p+5, 0.0);
    auto const small = below(x, {log.high + shift, log.low});
    auto const large = above(x, log);
    bool const is_large = x >= 2.5;
    return {blended(is_large, large.high, small.high), blended(is_large, large.low, small.low)};
  }
  TESSERA_FORMULA static double short_of(double x) {
    bool const shifts = x < 0.75;
    auto const first = blended(shifts, x, x - 1.0);
    auto const log = short_logarithm(x);
    auto const y = first + 1.0;
    auto const q = (y - 1.375) / (y + 1.375);
    auto const p = horner(q, 0x1.013d8539aa207p-1, -0x1.cbd9b54e2f986p-2, 0x1.08187962dac14p-3,
                          -0x1.3c6d0e19efdddp-3, 0x1.5fa897c0c4acdp-4, -0x1.8530d21258541p-4,
                          0x1.06dddf3d07728p-4, -0x1.19dc3bca88d9fp-4, 0x1.9a4189afff2e3p-5,
                          -0x1.ae9984eeefd24p-5, 0x1.b189d1cd5bf44p-5, -0x1.cdfbe19cbb21ap-5);
    auto const small = fused(first * (first - 1.0), p, blended(shifts, -log, 0.0));
    auto const w = 1.0 / x;
    auto const rest =
        w * horner(w, 0x1.555555d045eedp-4, -0x1.eeafb6b289f1fp-24, -0x1.6bc27be4f1751p-9,
                   -0x1.b44151fed48dbp-16, 0x1.eb7bcc9d9055bp-11, -0x1.c23807f2599fbp-12);
    auto const large = fused(x - 0.5, log, (rest + 0x1.d67f1c864beb5p-1) - x);
    return blended(x >= 2.5, large, small);
  }

 private:
  TESSERA_FORMULA static Pair<double> below(double x, Pair<double> const& log) {
    bool const shifts = x < 0.75;
    auto const first = blended(shifts, x, x - 1.0);
    auto const second = fast_two_sum(-1.0, first);
    auto const zeros = two_product(first, second.high);
    auto const zeros_low = fused(first, second.low, zeros.low);
    auto const y = first + 1.0;
    auto const divisor = two_sum(y, 1.375);
    auto const inverse = 1.0 / divisor.high;
    auto const q = (y - 1.375) * inverse;
    auto const q_low = (fused(-q, divisor.high, y - 1.375) - q * divisor.low) * inverse;
    auto const slope = -0x1.cbd9b54ed4b14p-2;
    auto const behind =
        fused(q,
              polynomial(q, slope, 0x1.0818788ef9f05p-3, -0x1.3c6d0c1c42b39p-3,
                         0x1.5fa9827e3b572p-4, -0x1.85327209af7efp-4, 0x1.06aee256c5c0ap-4,
                         -0x1.1996e84f47474p-4, 0x1.a2a2848b58d0dp-5, -0x1.b969251889936p-5,
                         0x1.5bc7954013180p-5, -0x1.6b01ac7ac3a3ep-5, 0x1.29641e91b6547p-5,
                         -0x1.344c2e48d71e0p-5, 0x1.0387fbe0c2bf2p-5, -0x1.0b9eb6d7446e2p-5,
                         0x1.d24e6e607e9a9p-6, -0x1.e1181f16c0105p-6, 0x1.718671cfe3e94p-6,
                         -0x1.702caced97190p-6, 0x1.23c21ce332e78p-5, -0x1.36a6883a9791ap-5),
              fused(q_low, slope, -0x1.f9a38a12c973bp-55));
    auto const p = fast_two_sum(0x1.013d8539b967ap-1, behind);
    auto const product = two_product(zeros.high, p.high);
    auto const low = product.low + fused(zeros.high, p.low, zeros_low * p.high);
    auto const sum = two_sum(blended(shifts, -log.high, 0.0), product.high);
    return {sum.high, sum.low + (low - blended(shifts, log.low, 0.0))};
  }
  /// Of huge x in units of 2^100, so that nothing overflows before the end.
  TESSERA_FORMULA static Pair<double> above(double x, Pair<double> const& log) {
    bool const huge = x > 0x1p500;
    auto const unit = blended(huge, 0x1p-100, 1.0);
    auto const back = blended(huge, 0x1p100, 1.0);
    auto const w = 1.0 / x;
    auto const rest =
        fused(w,
              polynomial(w, 0x1.555555555560ep-4, -0x1.3b2aa3b868ca7p-41, -0x1.6c16c10e2aefap-9,
                         -0x1.c0749447753c2p-30, 0x1.a01ee30f35343p-11, -0x1.12159eba839e3p-21,
                         -0x1.35a2738b00c9cp-11, -0x1.c6e9e009e5b85p-16, 0x1.e73bf3362f016p-11,
                         -0x1.406e10fb83de1p-16, -0x1.99e1505cfc3fcp-9, 0x1.6f2ba6d2b29f5p-8,
                         -0x1.288bab2e8f3d7p-8, 0x1.89f3f4033ec2fp-10),
              -0x1.65b5a1b7ff5dfp-55);
    auto const reduced = x - 0.5;
    auto const factor = reduced * unit;
    auto const factor_low = ((x - reduced) - 0.5) * unit;  // not 0 if x > 2^52
    auto const product = two_product(factor, log.high);
    auto const difference = two_sum(product.high, -x * unit);
    auto const sum = two_sum(difference.high, 0x1.d67f1c864beb5p-1 * unit);
    auto const product_low = fused(factor_low, log.high, fused(factor, log.low, product.low));
    auto const low = product_low + fused(rest, unit, difference.low);
    return {sum.high * back, (sum.low + low) * back};
  }
};

/// log |Gamma(x)|; infinite for infinities, zeros and negative integers.
/// Error: at most 0.9 ulp for x > 0 (double), 0.51 ulp (float). For x < 0 the same, but near its
/// zeros there: at most 2^-54 (double).
struct Lgamma {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const given = static_cast<double>(x);
    double result;
    if constexpr (std::is_same_v<R, float>) {
      result = LogGamma::short_of(given);
    } else {
      auto const pair = LogGamma::of(given);
      result = pair.high + pair.low;
    }
    constexpr auto infinite = infinity<double>();
    return static_cast<R>(blended((given == 0) | (given == infinite), infinite, result));
  }
  /// Negative numbers and the negative zero.
  template <class R>
  TESSERA_FORMULA static bool is_rare(R x) {
    return Tgamma::is_rare(x);
  }
  /// By the reflection log |Gamma(-a)| = log pi - log(a |sin(pi a)|) - log Gamma(a).
  template <class R>
  TESSERA_FUNCTION static R rare(R x) {
    auto const a = -static_cast<double>(x);
    if (std::floor(a) == a) return infinity<R>();
    if (a < 0x1p-100) return static_cast<R>(-value(logarithm(a)));
    auto const sine = sine_of_half_turns(a);
    auto const of_sine = logarithm(magnitude(sine.high));
    auto const of_a = logarithm(a);
    auto const gamma = LogGamma::of(a);
    auto const first = two_sum(0x1.250d048e7a1bdp+0, -of_a.high);
    auto const second = two_sum(first.high, -of_sine.high);
    auto const third = two_sum(second.high, -gamma.high);
    auto const relative = sine.low / sine.high;
    auto const low = (0x1.7abf2ad8d5088p-57 - of_a.low) - (of_sine.low + relative) - gamma.low;
    return static_cast<R>(third.high + (third.low + (second.low + (first.low + low))));
  }

 private:
  TESSERA_FUNCTION static double value(Pair<double> const& x) { return x.high + x.low; }
  TESSERA_FUNCTION static Pair<double> logarithm(double x) {
    if (x >= 0x1p-1022) return logarithm_as_pair(x);
    auto const log = logarithm_as_pair(x * 0x1p54);
    return fast_two_sum(-0x1.2b708872320e2p+5 + log.high, log.low);
  }
};

}  // namespace tessera::detail::formula
