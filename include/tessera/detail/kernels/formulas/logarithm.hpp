#pragma once
/// @file
/// Formulas of log, log2, log10 and log1p.
///
/// x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), and with s = f / (2 + f)
/// log(1 + f) = 2 atanh(s) = 2 s + s^3 Q(s^2) = f - f^2 / 2 + s (f^2 / 2 + s^2 Q(s^2)).
/// f is exact. f^2 / 2 is a sum of two numbers, except in log, and errors of the small rest hardly
/// count. Floats do without the division: log(1 + f) = f + f^2 P(f).
/// Coefficients: tools/coefficients/logarithm.sollya
///
/// Source: for the two forms of the same sum, Tang, Table-driven implementation of the logarithm
/// function in IEEE floating-point arithmetic (1990).

#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

template <class R>
TESSERA_FORMULA constexpr R least_normal() {
  return of_bits<R>(Format<R>::fraction + 1);
}

/// A number 2^k * factor, with the factor from sqrt(1/2) to sqrt(2).
template <class R>
struct Split {
  R k;
  R factor;
  Bits<R> biased_k;  ///< k plus the bias of the format
};
/// Of x 2^-k_less, for a normal number x > 0; of other x, anything.
template <class R>
TESSERA_FORMULA Split<R> split_normal(R x, R k_less = R(0)) {
  using F = Format<R>;
  constexpr R root = either<R>(0x1.6a09e667f3bcdp-1, 0x1.6a09e6p-1F);
  constexpr R unit = Bits<R>{1} << unsigned{F::fraction_bits};
  Bits<R> const bits = as_bits(x) + (F::one - as_bits(root));
  Bits<R> const biased_k = bits >> unsigned{F::fraction_bits};
  R const k = of_bits<R>(biased_k | as_bits(unit)) - (unit + R(F::bias));
  return {k - k_less, of_bits<R>((bits & F::fraction) + as_bits(root)), biased_k};
}
/// Of x > 0; of other x, anything.
template <class R>
TESSERA_FORMULA Split<R> split(R x) {
  constexpr R scale = either<R>(0x1p54, 0x1p25);
  constexpr R exponent = either<R>(54, 25);
  bool const is_subnormal = x < least_normal<R>();
  return split_normal(selected(is_subnormal, x * scale, x), selected(is_subnormal, exponent, R(0)));
}

/// What remains of log(1 + f) after f, divided by f^2.
TESSERA_FORMULA float log1p_quadratic(float f) {
  float const rest = two_horners(f, 0x1.55555p-2F, -0x1.000434p-2F, 0x1.99a41ep-3F, -0x1.54252p-3F,
                                 0x1.226d0ep-3F, -0x1.0f45b4p-3F, 0x1.086b4ap-3F, -0x1.383ff8p-4F);
  return fused(f, rest, -0x1.fffff8p-2F);
}
/// Q(s^2).
TESSERA_FORMULA double atanh_cubic(double s) {
  return horner(s * s, 0x1.5555555555593p-1, 0x1.999999997f9d5p-2, 0x1.249249422e16ap-2,
                0x1.c71c51d340c0ap-3, 0x1.74664ae763febp-3, 0x1.39a06f29ed8b4p-3,
                0x1.2f1344d62c18p-3);
}

/// log(1 + f) as a number and a rest that is less than a tenth of it.
template <class R>
TESSERA_FORMULA Pair<R> log1p_of_small(R f) {
  auto const square = two_product(R(0.5) * f, f);
  auto const sum = fast_two_sum(f, -square.high);
  R const low = sum.low - square.low;
  if constexpr (Format<R>::is_double) {
    R const s = f / (R(2) + f);
    return {sum.high, fused(s, fused(s * s, atanh_cubic(s), square.high), low)};
  } else {
    R const cubic = horner(f, 0x1.55556cp-1F, -0x1.000236p-1F, 0x1.99960ep-2F, -0x1.546784p-2F,
                           0x1.237e3ap-2F, -0x1.0e77fep-2F, 0x1.020626p-2F, -0x1.2c9042p-3F);
    return {sum.high, fused(f * square.high, cubic, low)};
  }
}
/// log(1 + f) - f + more, where `more` is small beside f, or 0.
TESSERA_FORMULA float log1p_less(float f, float more) {
  return fused(f * f, log1p_quadratic(f), more);
}
TESSERA_FORMULA double log1p_less(double f, double more) {
  double const s = f / (2 + f);
  double const half_square = 0.5 * f * f;
  return fused(s, fused(s * s, atanh_cubic(s), half_square), more) - half_square;
}

/// `result`, the logarithm of a number x > 0, or what is right for other x.
template <class R>
TESSERA_FORMULA R log_or_special(R x, R result) {
  constexpr Bits<R> to_nan = as_bits(not_a_number<R>()) - as_bits(infinity<R>());
  // Minus infinity, or NaN: by bits, which is faster than another selection.
  R const without_log = of_bits<R>(as_bits(-infinity<R>()) | (x == R(0) ? Bits<R>{0} : to_nan));
  return selected(x > R(0), result + selected(x == infinity<R>(), x, R(0)), without_log);
}

/// k log(2) + log_of_factor.
template <class R>
TESSERA_FORMULA R log_of_parts(R k, Pair<R> log_of_factor) {
  constexpr auto log_2 = log_of_two<R>();
  auto const sum = fast_two_sum(k * log_2.high, log_of_factor.high);
  return sum.high + (sum.low + fused(k, log_2.low, log_of_factor.low));
}

/// Of logarithms those of numbers are rare that are not normal, or not > 0.
struct RareUnlessNormal {
  template <class R>
  TESSERA_FORMULA static std::uint32_t rarity(R x) {
    return high_bits(x) - high_bits(least_normal<R>());
  }
  template <class R>
  TESSERA_FORMULA static constexpr std::uint32_t least_rarity() {
    return high_bits(infinity<R>()) - high_bits(least_normal<R>());
  }
};

/// The natural logarithm of x. Error: at most 0.85 ulp (double), 0.90 ulp (float).
struct Log : RareUnlessNormal {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    constexpr R log2_high = either<R>(0x1.62e42fefa39efp-1, 0x1.62e43p-1F);
    auto const parts = split_normal(x);
    R const f = parts.factor - R(1);
    R const sum = fused(parts.k, log2_high, f);
    R rest = f + fused(parts.k, log2_high, -sum);  // exact
    if constexpr (Format<R>::is_double) rest = fused(parts.k, 0x1.abc9e3b39803fp-56, rest);
    return sum + log1p_less(f, rest);
  }
  template <class R>
  TESSERA_FORMULA static R rare(R x) {
    auto const parts = split(x);
    return log_or_special(x, log_of_parts(parts.k, log1p_of_small(parts.factor - R(1))));
  }
};

/// a * b, but for the product of the two rests.
template <class R>
TESSERA_FORMULA Pair<R> product_of_pairs(Pair<R> a, Pair<R> b) {
  auto const product = two_product(a.high, b.high);
  return {product.high, fused(a.low, b.high, fused(a.high, b.low, product.low))};
}

/// Logarithms whose formula takes the exponent and the factor of a number.
template <class Formula>
struct OfSplit : RareUnlessNormal {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    return Formula::of_parts(split_normal(x));
  }
  template <class R>
  TESSERA_FORMULA static R rare(R x) {
    return log_or_special(x, Formula::of_parts(split(x)));
  }
};

/// The binary logarithm of x. Error: at most 0.71 ulp (double), 0.73 ulp (float).
struct Log2 : OfSplit<Log2> {
  template <class R>
  TESSERA_FORMULA static R of_parts(Split<R> parts) {
    constexpr R high = either<R>(0x1.71547652b82fep0, 0x1.715476p0F);
    constexpr R low = either<R>(0x1.777d0ffda0d24p-56, 0x1.4ae0cp-26F);
    auto const log = log1p_of_small(parts.factor - R(1));
    auto const of_factor = product_of_pairs(log, Pair<R>{high, low});
    auto const sum = fast_two_sum(parts.k, of_factor.high);
    return sum.high + (sum.low + of_factor.low);
  }
};

/// The decimal logarithm of x. Error: at most 0.66 ulp (double), 0.68 ulp (float).
struct Log10 : OfSplit<Log10> {
  template <class R>
  TESSERA_FORMULA static R of_parts(Split<R> parts) {
    constexpr R high = either<R>(0x1.bcb7b1526e50ep-2, 0x1.bcb7b2p-2F);
    constexpr R low = either<R>(0x1.95355baaafad3p-57, -0x1.5b235ep-27F);
    constexpr R log10_2_high = either<R>(0x1.34413509f78p-2, 0x1.3442p-2F);
    constexpr R log10_2_low = either<R>(0x1.fef311f12b358p-46, -0x1.95ec1p-19F);
    auto const log = log1p_of_small(parts.factor - R(1));
    auto const of_factor = product_of_pairs(log, Pair<R>{high, low});
    auto const sum = fast_two_sum(parts.k * log10_2_high, of_factor.high);
    R const rest = fused(parts.k, log10_2_low, of_factor.low);
    return sum.high + (sum.low + rest);
  }
};

/// The natural logarithm of 1 + x. Error: at most 0.66 ulp (double), 0.67 ulp (float).
struct Log1p {
  template <class R>
  TESSERA_FORMULA static R usual(R x) {
    using F = Format<R>;
    constexpr R itself_below = either<R>(0x1p-54, 0x1p-25);
    auto const sum = two_sum(R(1), x);
    auto const parts = split_normal(sum.high);
    // What 1 + x lost, divided by 2^k. Of an x this large it does not count.
    R const inverse = of_bits<R>((2 * F::bias - parts.biased_k) << unsigned{F::fraction_bits});
    R const lost = selected(x < R(0x1p100F), sum.low * inverse, R(0));
    auto const f = fast_two_sum(parts.factor - R(1), lost);
    auto log = log1p_of_small(f.high);
    log.low = fused(f.low, R(1) - log.high, log.low);
    R const result = log_or_special(sum.high, log_of_parts(parts.k, log));
    return selected(magnitude(x) < itself_below, x, result);
  }
};

}  // namespace tessera::detail::formula
