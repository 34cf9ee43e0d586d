#pragma once
/// @file
/// The logarithm of the gamma function. Floats are computed as doubles, with shorter polynomials.
/// Coefficients: tools/coefficients/gamma.py.

#include <cmath>
#include <limits>
#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/formulas/gamma.hpp"
#include "tessera/detail/formulas/logarithm_as_pair.hpp"
#include "tessera/detail/formulas/steps.hpp"

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
    auto const x = selected(given > largest, largest, given);
    bool const subnormal = x < 0x1p-1022;
    auto const log = logarithm_as_pair(selected(subnormal, x * 0x1p54, x));
    // Such a small x has the result -log x.
    auto const shift = selected(subnormal, -0x1.2b708872320e2p+5, 0.0);
    auto const small = below(x, {log.high + shift, log.low});
    auto const large = above(x, log);
    bool const is_large = x >= 2.5;
    return {selected(is_large, large.high, small.high), selected(is_large, large.low, small.low)};
  }
  TESSERA_FORMULA static double short_of(double x) {
    bool const shifts = x < 0.75;
    auto const first = selected(shifts, x, x - 1.0);
    auto const log = short_logarithm(x);
    auto const y = first + 1.0;
    auto const q = (y - 1.375) / (y + 1.375);
    auto const p = horner(q, 0x1.013d8539aa207p-1, -0x1.cbd9b54e2f980p-2, 0x1.08187962dac0ep-3,
                          -0x1.3c6d0e19efdd7p-3, 0x1.5fa897c0c4ac7p-4, -0x1.8530d2125853bp-4,
                          0x1.06dddf3d07722p-4, -0x1.19dc3bca88d99p-4, 0x1.9a4189afff2ddp-5,
                          -0x1.ae9984eeefd1ep-5, 0x1.b189d1cd5bf3ep-5, -0x1.cdfbe19cbb214p-5);
    auto const small = fused(first * (first - 1.0), p, selected(shifts, -log, 0.0));
    auto const w = 1.0 / x;
    auto const rest =
        w * horner(w, 0x1.555555d045eedp-4, -0x1.eeafb6b289f1fp-24, -0x1.6bc27be4f1751p-9,
                   -0x1.b44151fed48dbp-16, 0x1.eb7bcc9d9055bp-11, -0x1.c23807f2599fbp-12);
    auto const large = fused(x - 0.5, log, (rest + 0x1.d67f1c864beb5p-1) - x);
    return selected(x >= 2.5, large, small);
  }

 private:
  TESSERA_FORMULA static Pair<double> below(double x, Pair<double> const& log) {
    bool const shifts = x < 0.75;
    auto const first = selected(shifts, x, x - 1.0);
    auto const zeros = two_product(first, first - 1.0);
    auto const y = first + 1.0;
    auto const q = (y - 1.375) / (y + 1.375);
    auto const p = fast_two_sum(
        0x1.013d8539b967ap-1,
        fused(q,
              horner(q, -0x1.cbd9b54ed4b14p-2, 0x1.0818788ef9f06p-3, -0x1.3c6d0c1c42b41p-3,
                     0x1.5fa9827e3ac46p-4, -0x1.85327209af262p-4, 0x1.06aee2573169cp-4,
                     -0x1.1996e84f7ba5bp-4, 0x1.a2a2843ab0899p-5, -0x1.b96924f843416p-5,
                     0x1.5bc7a6d87b28fp-5, -0x1.6b01b2453fd1cp-5, 0x1.2961bae1f611ap-5,
                     -0x1.344b8b67e83bdp-5, 0x1.03bd42e088f94p-5, -0x1.0ba9d0581e789p-5,
                     0x1.cc59e2f1ca439p-6, -0x1.e02e0321943c7p-6, 0x1.a661aed152846p-6,
                     -0x1.7582a72096964p-6, 0x1.3ea089419ff6bp-6, -0x1.300ad2f720c4fp-5,
                     0x1.1e698aee6a5adp-5),
              -0x1.f9da6da675dd8p-55));
    auto const product = two_product(zeros.high, p.high);
    auto const low = product.low + fused(zeros.high, p.low, zeros.low * p.high);
    auto const sum = two_sum(selected(shifts, -log.high, 0.0), product.high);
    return {sum.high, sum.low + (low - selected(shifts, log.low, 0.0))};
  }
  /// Of huge x in units of 2^100, so that nothing overflows before the end.
  TESSERA_FORMULA static Pair<double> above(double x, Pair<double> const& log) {
    bool const huge = x > 0x1p500;
    auto const unit = selected(huge, 0x1p-100, 1.0);
    auto const back = selected(huge, 0x1p100, 1.0);
    auto const w = 1.0 / x;
    auto const rest =
        fused(w,
              horner(w, 0x1.555555555560ep-4, -0x1.3b2aa3b868ca7p-41, -0x1.6c16c10e2aefap-9,
                     -0x1.c0749447753c2p-30, 0x1.a01ee30f35343p-11, -0x1.12159eba839e3p-21,
                     -0x1.35a2738b00c9cp-11, -0x1.c6e9e009e5b85p-16, 0x1.e73bf3362f016p-11,
                     -0x1.406e10fb83de1p-16, -0x1.99e1505cfc3fcp-9, 0x1.6f2ba6d2b29f5p-8,
                     -0x1.288bab2e8f3d7p-8, 0x1.89f3f4033ec2fp-10),
              -0x1.65b5a1b7ff5dfp-55);
    auto const factor = (x - 0.5) * unit;
    auto const product = two_product(factor, log.high);
    auto const difference = two_sum(product.high, -x * unit);
    auto const sum = two_sum(difference.high, 0x1.d67f1c864beb5p-1 * unit);
    auto const low = fused(factor, log.low, product.low) + fused(rest, unit, difference.low);
    return {sum.high * back, (sum.low + low) * back};
  }
};

/// log |Gamma(x)|; infinite for infinities, zeros and negative integers.
/// Error: at most 1 ulp for x > 0 (double), 0.51 ulp (float). For x < 0 the same, but near its
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
    return static_cast<R>(selected((given == 0) | (given == infinite), infinite, result));
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
