#pragma once
/// @file
/// Formulas of exp, exp2 and expm1.
///
/// With k = round(x / log(2)) and r = x - k log(2), e^x = 2^k e^r. Coefficients:
/// tools/coefficients/exponential.sollya

#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// x = k log(2) + r with |r| <= log(2) / 2.
template <class R>
struct Reduced {
  Rounded<R> k;
  Pair<R> r;
};
/// Of |x| <= 1100 for double, 150 for float.
template <class R>
TESSERA_FORMULA Reduced<R> reduced_by_log2(R x) {
  constexpr auto log_2 = log_of_two<R>();
  constexpr R inverse = either<R>(0x1.71547652b82fep0, 0x1.715476p0F);
  auto const k = rounded_product(x, inverse);
  R const rest = fused(-k.value, log_2.high, x);  // exact
  R const r = fused(-k.value, log_2.low, rest);
  return {k, {r, fused(-k.value, log_2.low, rest - r)}};
}

/// What remains of e^r after 1 + r + r^2 / 2, divided by r^3.
template <class R>
TESSERA_FORMULA R exp_cubic(R r) {
  if constexpr (Format<R>::is_double)
    return two_horners(r, 0x1.5555555555559p-3, 0x1.555555555554dp-5, 0x1.111111110f64bp-7,
                       0x1.6c16c16c1ab03p-10, 0x1.a01a01b00a5dep-13, 0x1.a01a018e103d9p-16,
                       0x1.71ddf7f7e5967p-19, 0x1.27e5132ae42a2p-22, 0x1.af5f5eb3811bcp-26,
                       0x1.1f1a66d05a922p-29);
  else
    return horner(r, 0x1.555554p-3F, 0x1.5554fp-5F, 0x1.111306p-7F, 0x1.6d4388p-10F,
                  0x1.9e0ca2p-13F);
}
/// What remains of e^(r.high + r.low) after 1 + r.high.
template <class R>
TESSERA_FORMULA R exp_rest(Pair<R> r) {
  R const quadratic = fused(r.high, exp_cubic(r.high), R(0.5));
  return fused(r.high, fused(r.high, quadratic, r.low), r.low);
}
/// 2^k e^r.
template <class R>
TESSERA_FORMULA R exp_of(Reduced<R> x) {
  auto const sum = fast_two_sum(R(1), x.r.high);
  return times_power_of_two(sum.high + (sum.low + exp_rest(x.r)), x.k);
}

/// e^r for |r| <= log(2) / 2, or 2^r for |r| <= 1 / 2, by c1 = 1 or log(2) and what follows.
template <class R, class... More>
TESSERA_FORMULA R exp_by_polynomial(R r, R c1, More... more) {
  R const rest = Format<R>::is_double ? two_horners(r, more...) : horner(r, more...);
  return fused(r, fused(r, rest, c1), R(1));
}
/// x * 2^k, if that is a normal number as x is.
template <class R>
TESSERA_FORMULA R with_exponent_more(R x, Rounded<R> k) {
  return of_bits<R>(as_bits(x) + (as_bits(k.shifted) << unsigned{Format<R>::fraction_bits}));
}

/// e to the power of x. Error: at most 0.90 ulp (double), 0.91 ulp (float).
struct Exp {
  /// The rare results are not normal numbers, or nearly so.
  template <class R>
  TESSERA_FORMULA static std::uint32_t rarity(R x) {
    return high_bits(magnitude(x));
  }
  template <class R>
  TESSERA_FORMULA static constexpr std::uint32_t least_rarity() {
    return high_bits(either<R>(708, 87));
  }
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    constexpr R inverse = either<R>(0x1.71547652b82fep0, 0x1.715476p0F);
    constexpr R log2_high = either<R>(0x1.62e42fefa39efp-1, 0x1.62e43p-1F);
    constexpr R log2_low = either<R>(0x1.abc9e3b39803fp-56, -0x1.05c61p-29F);
    auto const k = rounded_product(x, inverse);
    R const r = fused(-k.value, log2_low, fused(-k.value, log2_high, x));
    if constexpr (Format<R>::is_double)
      return with_exponent_more(
          exp_by_polynomial(r, 1.0, 0x1.000000000000cp-1, 0x1.5555555555561p-3,
                            0x1.555555554fdd7p-5, 0x1.111111110d635p-7, 0x1.6c16c1861732dp-10,
                            0x1.a01a01bae6b9cp-13, 0x1.a019958433bd6p-16, 0x1.71dddfbd19efbp-19,
                            0x1.28b13092cf623p-22, 0x1.af85a50c95e69p-26),
          k);
    else
      return with_exponent_more(exp_by_polynomial(r, 1.0F, 0x1.fffffep-2F, 0x1.55548ep-3F,
                                                  0x1.555658p-5F, 0x1.123bfep-7F, 0x1.6c5394p-10F),
                                k);
  }
  template <class R>
  TESSERA_FORMULA static R rare(R x) {
    constexpr R zero_below = either<R>(-746, -104);
    constexpr R infinite_above = either<R>(710, 89);
    // Of 0 where the result is 0: steps with subnormal numbers are slow on some processors.
    bool const is_zero = x < zero_below;
    R const within = selected(is_zero, R(0), selected(x > infinite_above, infinite_above, x));
    return selected(is_zero, R(0), exp_of(reduced_by_log2(within)));
  }
};

/// 2 to the power of x. Error: at most 0.83 ulp (double), 0.82 ulp (float).
struct Exp2 {
  /// The rare results are not normal numbers, or nearly so.
  template <class R>
  TESSERA_FORMULA static std::uint32_t rarity(R x) {
    return high_bits(magnitude(x));
  }
  template <class R>
  TESSERA_FORMULA static constexpr std::uint32_t least_rarity() {
    return high_bits(either<R>(1022, 126));
  }
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    auto const k = rounded(x);
    R const r = x - k.value;
    if constexpr (Format<R>::is_double)
      return with_exponent_more(
          exp_by_polynomial(r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a5p-3, 0x1.c6b08d704a189p-5,
                            0x1.3b2ab6fb9ff2p-7, 0x1.5d87fe78874a5p-10, 0x1.4309130f408cap-13,
                            0x1.ffcbfce2f9efbp-17, 0x1.62bfc696002f1p-20, 0x1.b52412e681b69p-24,
                            0x1.e61d177a9a75ap-28, 0x1.eb15a1c864f63p-32),
          k);
    else
      return with_exponent_more(exp_by_polynomial(r, 0x1.62e43p-1F, 0x1.ebfbep-3F, 0x1.c6af72p-5F,
                                                  0x1.3b2a44p-7F, 0x1.5f0df8p-10F, 0x1.442942p-13F),
                                k);
  }
  template <class R>
  TESSERA_FORMULA static R rare(R x) {
    constexpr R log2_high = either<R>(0x1.62e42fefa39efp-1, 0x1.62e43p-1F);
    constexpr R log2_low = either<R>(0x1.abc9e3b39803fp-56, -0x1.05c61p-29F);
    constexpr R zero_below = either<R>(-1076, -151);
    constexpr R infinite_above = either<R>(1025, 129);
    bool const is_zero = x < zero_below;
    R const within = selected(is_zero, R(0), selected(x > infinite_above, infinite_above, x));
    auto const k = rounded(within);
    R const fraction = within - k.value;
    auto const r = two_product(fraction, log2_high);
    R const power = exp_of(Reduced<R>{k, {r.high, fused(fraction, log2_low, r.low)}});
    return selected(is_zero, R(0), power);
  }
};

/// scale e^r - c, where `difference` is scale - c exactly. scale is 2^k, and c is 1, 1/2 or so.
/// r^2 is a sum of two numbers here, because the result may be much smaller than scale.
template <class R>
TESSERA_FORMULA Pair<R> scaled_exp_less(Pair<R> difference, R scale, Pair<R> r) {
  auto const sum = fast_two_sum(difference.high, scale * r.high);
  auto const square = two_product(r.high, r.high);
  R const linear_low = fused(r.low, r.high, r.low);
  R const square_low = fused(R(0.5), square.low, linear_low);
  R const rest = fused(square.high * r.high, exp_cubic(r.high), square_low);
  R const low = fused(scale, rest, sum.low + difference.low);
  return {sum.high, fused(R(0.5) * scale, square.high, low)};
}

/// e to the power of x, minus 1. Error: at most 0.74 ulp (double), 0.71 ulp (float).
struct Expm1 {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    constexpr R minus_one_below = either<R>(-50, -30);
    constexpr R infinite_above = either<R>(709.9, 89);
    constexpr R itself_below = either<R>(0x1p-54, 0x1p-25);
    auto const [k, r] = reduced_by_log2(selected(x > infinite_above, infinite_above, x));
    // Half of the result, because 2^k may be infinite.
    R const scale = power_of_two<R>(as_bits(k.shifted) - 1);
    auto const half = scaled_exp_less(two_sum(scale, R(-0.5)), scale, r);
    R const result = selected(x < minus_one_below, R(-1), R(2) * (half.high + half.low));
    return selected(magnitude(x) < itself_below, x, result);
  }
};

}  // namespace tessera::detail::formula
