#pragma once
/// @file
/// The formula of pow: |x|^y = e^(y log|x|), with a logarithm of some 67 bits for double, and all
/// in double for float. Coefficients: tools/coefficients/power.sollya

#include "tessera/detail/kernels/formulas/exponential.hpp"
#include "tessera/detail/kernels/formulas/logarithm.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// x to the power of y. Error: at most 0.63 ulp (double; where the result is subnormal, 0.77 ulp),
/// 0.51 ulp (float).
struct Pow {
  TESSERA_FORMULA static double usual(double x, double y) {
    auto const log = log_of(magnitude(x));
    auto const exponent = two_product(y, log.high);
    bool const is_infinite = exponent.high > 710;
    double const high = selected(is_infinite, 710.0, exponent.high);
    double const low = selected(is_infinite, 0.0, fused(y, log.low, exponent.low));
    auto reduced = reduced_by_log2(high);
    reduced.r = fast_two_sum(reduced.r.high, reduced.r.low + low);
    double const power = exp_of(reduced);
    return with_sign_or_special(x, y, selected(exponent.high < -746, 0.0, power));
  }
  TESSERA_FORMULA static float usual(float x, float y) {
    double const exponent = double{y} * binary_log_of(magnitude(double{x}));
    double const power = binary_power(selected(exponent > 160, 160.0, exponent));
    double const magnitude = selected(exponent < -160, 0.0, power);
    return static_cast<float>(with_sign_or_special(double{x}, double{y}, magnitude));
  }

 private:
  /// `log` of a number x > 0, or what is right for 0, infinity and NaN.
  TESSERA_FORMULA static double at_ends(double x, double log) {
    constexpr double infinite = infinity<double>();
    return (log - selected(x == 0, infinite, 0.0)) + selected(x < infinite, 0.0, x);
  }

  /// log(x) of x >= 0, to 67 bits, as 2 s (1 + s^2 / 3 + s^4 W(s^2)) + k log(2).
  TESSERA_FORMULA static Pair<double> log_of(double x) {
    using Double = Pair<double>;
    auto const parts = split(x);
    double const f = parts.factor - 1;
    auto const below = fast_two_sum(2.0, f);
    double const inverse = 1 / below.high;
    double const s = f * inverse;
    double const s_low = fused(-s, below.low, fused(-s, below.high, f)) * inverse;
    auto square = two_product(s, s);
    square.low = fused(2 * s, s_low, square.low);
    double const w = two_horners(square.high, 0x1.9999999999995p-3, 0x1.2492492493155p-3,
                                 0x1.c71c71c563346p-4, 0x1.745d183e9d63bp-4, 0x1.3b135fc648785p-4,
                                 0x1.11211c831a35bp-4, 0x1.de24663adec91p-5, 0x1.eb85be906bbabp-5);
    auto const fifth = two_product(square.high, w);
    auto third = fast_two_sum(0x1.5555555555555p-2, fifth.high);
    third.low += fused(square.low, w, fifth.low) + 0x1.5555555555555p-56;
    auto const cube = product_of_pairs(Double{s, s_low}, product_of_pairs(square, third));
    auto const half = fast_two_sum(s, cube.high);
    constexpr auto log_2 = log_of_two<double>();
    auto sum = fast_two_sum(parts.k * log_2.high, 2 * half.high);
    sum.low += fused(parts.k, log_2.low, 2 * (half.low + (s_low + cube.low)));
    return {at_ends(x, sum.high), sum.low};
  }

  /// log2(x) of x = 0 or a normal number x > 0, to 44 bits.
  TESSERA_FORMULA static double binary_log_of(double x) {
    auto const parts = split_normal(x);
    double const f = parts.factor - 1;
    double const s = f / (2 + f);
    double const v = horner(s * s, 0x1.71547652b824fp1, 0x1.ec709dc5406bcp-1, 0x1.2776c28e48debp-1,
                            0x1.a61a32fdb438ep-2, 0x1.47949ef707d98p-2, 0x1.21bbb4d9c5bbp-2);
    return at_ends(x, fused(s, v, parts.k));
  }
  /// 2^x to 34 bits.
  TESSERA_FORMULA static double binary_power(double x) {
    auto const k = rounded(x);
    double const power = horner(x - k.value, 1.0, 0x1.62e42ff0e213dp-1, 0x1.ebfbe077adffap-3,
                                0x1.c6b08abf99521p-5, 0x1.3b29f3757eec6p-7, 0x1.5d8a8682b86e9p-10,
                                0x1.445ca6a665f65p-13, 0x1.fde5ccc612075p-17);
    return power * power_of_two<double>(as_bits(k.shifted));
  }

  /// `power`, which is |x|^y, with the sign of x^y, or what is right where that is no number or 1.
  TESSERA_FORMULA static double with_sign_or_special(double x, double y, double power) {
    constexpr double infinite = infinity<double>();
    double const half = 0.5 * y;
    bool const is_whole = std::trunc(y) == y;
    bool const is_odd = is_whole & (std::trunc(half) != half);
    double const with_sign = with_sign_flipped_by(power, selected(is_odd, x, 0.0));
    bool const is_negative = (x < 0) & (x > -infinite);
    double const result = selected(is_negative & !is_whole, not_a_number<double>(), with_sign);
    bool const is_one = (x == 1) | (y == 0) | ((x == -1) & (magnitude(y) == infinite));
    return selected(is_one, 1.0, result);
  }
};

}  // namespace tessera::detail::formula
