#pragma once
/// @file
/// Formulas of sinh, cosh and tanh.
///
/// With |x| = k log(2) + r, sinh(x) = A cosh(r) + B sinh(r) and cosh(x) = B cosh(r) + A sinh(r),
/// where A = sinh(k log(2)) and B = cosh(k log(2)). Coefficients:
/// tools/coefficients/hyperbolic.sollya

#include "tessera/detail/kernels/formulas/exponential.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// cosh(r) - 1, as a sum of two numbers, and sinh(r) - r.high.
template <class R>
struct HyperbolicRests {
  R even;
  R even_low;
  R odd;
};
template <class R>
TESSERA_FORMULA HyperbolicRests<R> hyperbolic_rests(Pair<R> r) {
  auto const square = two_product(r.high, r.high);
  R const z = square.high;
  R even;
  R odd;
  if constexpr (Format<R>::is_double) {
    even = horner(z, 0x1.5555555555556p-5, 0x1.6c16c16c15ff2p-10, 0x1.a01a01a81e7efp-16,
                  0x1.27e4d803392e3p-22, 0x1.1f790f014c849p-29);
    odd = horner(z, 0x1.5555555555559p-3, 0x1.111111110f648p-7, 0x1.a01a01b00c2f6p-13,
                 0x1.71ddf7f266a32p-19, 0x1.af5f693dfc526p-26);
  } else {
    even = horner(z, 0x1.5555p-5F, 0x1.6d308ap-10F);
    odd = horner(z, 0x1.555556p-3F, 0x1.110fe2p-7F, 0x1.a28f26p-13F);
  }
  R const even_low = fused(r.low, r.high, R(0.5) * square.low);
  return {fused(R(0.5), z, (z * z) * even), even_low, fused(z * r.high, odd, r.low)};
}

/// (e^y + sign e^-y) / 2 for y >= 0.
template <class R>
TESSERA_FORMULA R half_sum_of_exponentials(R y, R sign) {
  constexpr R infinite_above = either<R>(710.6, 89.5);
  R const within = selected(y > infinite_above, infinite_above, y);
  auto const [k, r] = reduced_by_log2(within);
  // 2^k / 4 and 2^-k / 4: half of what belongs there, because 2^k / 2 may be infinite.
  R const grown = power_of_two<R>(as_bits(k.shifted) - 2);
  R const shrunk = power_of_two<R>(Bits<R>{0} - as_bits(k.shifted) - 2);
  R const other = sign * selected(within < R(64), shrunk, R(0));
  auto const rests = hyperbolic_rests(r);
  auto const first = fast_two_sum(grown, other);
  auto const second = fast_two_sum(first.high, grown * r.high);
  auto const third = fast_two_sum(second.high, -other * r.high);
  R const odd = fused(first.high, rests.even_low, (grown - other) * rests.odd);
  R const low = (first.low + second.low) + (third.low + odd);
  return R(2) * (third.high + fused(first.high, rests.even, low));
}

/// The hyperbolic sine. Error: at most 0.68 ulp.
struct Sinh {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    constexpr R itself_below = either<R>(0x1p-30, 0x1p-14);
    R const y = magnitude(x);
    R const of_magnitude = selected(y < itself_below, y, half_sum_of_exponentials(y, R(-1)));
    return with_sign_of(x, of_magnitude);
  }
};

/// The hyperbolic cosine. Error: at most 0.61 ulp (double), 0.63 ulp (float).
struct Cosh {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    return half_sum_of_exponentials(magnitude(x), R(1));
  }
};

/// The hyperbolic tangent: with t = e^(-2|x|) - 1, -t / (2 + t) with the sign of x. Error: at most
/// 0.64 ulp.
struct Tanh {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    R const twice = R(-2) * magnitude(x);
    auto const [k, r] = reduced_by_log2(selected(twice < R(-45), R(-45), twice));
    R const scale = power_of_two<R>(as_bits(k.shifted));
    auto const sum = scaled_exp_less(fast_two_sum(R(-1), scale), scale, r);
    auto const t = fast_two_sum(sum.high, sum.low);
    auto const below = fast_two_sum(R(2), t.high);
    R const inverse = R(1) / below.high;
    R const quotient = t.high * inverse;
    R const rest =
        fused(-quotient, below.high, t.high) + fused(-quotient, below.low + t.low, t.low);
    return with_sign_of(x, magnitude(fused(rest, inverse, quotient)));
  }
};

}  // namespace tessera::detail::formula
