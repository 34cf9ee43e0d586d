#pragma once
/// @file
/// Formulas that turn random bits into numbers of a distribution. Like the elementary functions,
/// each is a fixed sequence of IEEE operations: vectors of any width and GPUs give the same bits.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/logarithm.hpp"
#include "tessera/detail/kernels/formulas/sine.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail {

/// The word of random bits that a number of type R is made from.
template <class R>
using RandomBits = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;

namespace formula {

/// Converts an integer below 2^32 to double, exactly: put into the lower bits of 2^52 as a double,
/// it gives 2^52 + word.
TESSERA_FORMULA double double_of_word(std::uint64_t word) {
  return of_bits<double>(word | as_bits(0x1p52)) - 0x1p52;
}

/// A uniform number in [0, 1): the upper 24 (float) or 53 (double) bits as a fraction, exactly.
template <class R>
TESSERA_FORMULA R uniform_number(RandomBits<R> bits) {
  if constexpr (sizeof(R) == 8)
    return fused(double_of_word(bits >> 32U), 0x1p-32,
                 double_of_word((bits & 0xffff'ffffU) >> 11U) * 0x1p-53);
  else  // signed, since processors convert signed integers in one instruction
    return static_cast<float>(static_cast<std::int32_t>(bits >> 8U)) * 0x1p-24F;
}

/// (bits + 1/2) / 2^32 or 2^64, rounded once: a number in (0, 1], never 0. Small numbers keep their
/// full precision.
TESSERA_FORMULA float midpoint_number(std::uint32_t bits) {
  auto const high = static_cast<float>(static_cast<std::int32_t>(bits >> 16U));
  auto const low = static_cast<float>(static_cast<std::int32_t>(bits & 0xffffU));
  return fused(high, 0x1p-16F, fused(low, 0x1p-32F, 0x1p-33F));
}
TESSERA_FORMULA double midpoint_number(std::uint64_t bits) {
  auto const high = double_of_word(bits >> 32U);
  auto const low = double_of_word(bits & 0xffff'ffffU);
  return fused(high, 0x1p-32, fused(low, 0x1p-64, 0x1p-65));
}
/// The same as a double: exact and in (0, 1) for words of 32 bits.
TESSERA_FORMULA double midpoint_double(std::uint32_t bits) {
  return fused(double_of_word(bits), 0x1p-32, 0x1p-33);
}
TESSERA_FORMULA double midpoint_double(std::uint64_t bits) {
  return midpoint_number(bits);
}

/// The angle of bits / 2^32 or 2^64 full turns, as quarter turns and a remainder.
/// Error: one ulp of the remainder.
TESSERA_FORMULA Angle angle_of_bits(std::uint32_t bits) {
  std::uint32_t const quarters = (bits + (1U << 29U)) >> 30U;
  auto const rest = static_cast<std::int32_t>(bits - (quarters << 30U));
  return {static_cast<double>(rest) * 0x1.921fb54442d18p-30, 0, quarters};
}
TESSERA_FORMULA Angle angle_of_bits(std::uint64_t bits) {
  std::uint64_t const quarters = (bits + (std::uint64_t{1} << 61U)) >> 62U;
  std::uint64_t const rest = bits - (quarters << 62U) + (std::uint64_t{1} << 61U);
  auto const high = double_of_word(rest >> 32U) - 0x1p29;
  auto const low = double_of_word(rest & 0xffff'ffffU);
  return {fused(high, 0x1p32, low) * 0x1.921fb54442d18p-62, 0, quarters};
}

/// A number of the exponential distribution of rate 1: at most 22.9 (float) or 45.1 (double).
/// Error: 1.4 ulp, compared with the logarithm of the unrounded (bits + 1/2) / 2^32 or 2^64.
template <class R>
TESSERA_FORMULA R exponential_number(RandomBits<R> bits) {
  return R(0) - Log::usual(midpoint_number(bits));
}

/// Two numbers of the standard normal distribution; their magnitude is at most 6.8 (float) or 9.5
/// (double). Error: 3 ulp, compared with the exact value for the same bits.
/// Source: Box and Muller, A note on the generation of random normal deviates (1958).
template <class R>
struct NormalPair {
  R first;
  R second;
};
template <class R>
TESSERA_FORMULA NormalPair<R> normal_pair(RandomBits<R> bits_of_radius,
                                          RandomBits<R> bits_of_angle) {
  R const radius = std::sqrt(R(2) * exponential_number<R>(bits_of_radius));
  auto const angle = angle_of_bits(bits_of_angle);
  return {radius * sine_of<R>(angle, 1), radius * sine_of<R>(angle, 0)};
}

/// The x >= 0 that a number of the standard normal distribution exceeds with probability p.
/// Requires p <= 0.5, neither 0 nor subnormal. Error: 1e-16 of x, besides roundings.
/// Source: Wichura, Algorithm AS 241: the percentage points of the normal distribution (1988).
TESSERA_FORMULA double normal_quantile(double p) {
  double const q = 0.5 - p;
  double const s = 0.180625 - q * q;
  double const middle =
      q *
      horner(s, 3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
             1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
             3.3430575583588128105e4, 2.5090809287301226727e3) /
      horner(s, 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
             2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
             5.2264952788528545610e3);
  double const root = std::sqrt(0.0 - Log::usual(p));
  double const r = root - 1.6;
  double const tail =
      horner(r, 1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
             3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
             2.27238449892691845833e-2, 7.74545014278341407640e-4) /
      horner(r, 1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
             1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
             1.05075007164441684324e-9);
  double const far = root - 5.0;
  double const far_tail =
      horner(far, 6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
             2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
             2.71155556874348757815e-5, 2.01033439929228813265e-7) /
      horner(far, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
             1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
             1.42151175831644588870e-7, 2.04426310338993978564e-15);
  return selected(q <= 0.425, middle, selected(root <= 5.0, tail, far_tail));
}

}  // namespace formula

/// An interval, and its probabilities under the standard normal distribution.
template <class R>
struct NormalInterval {
  R low;
  R high;
  double below;  ///< the probability of a number less than `low`
  double above;  ///< the probability of a number greater than `high`
  double share;  ///< the probability of a number in the interval

  friend bool operator==(NormalInterval const&, NormalInterval const&) = default;
};

namespace formula {

/// A number of the normal distribution truncated to an interval: the quantile of a uniform number
/// between the bounds' probabilities. It is computed from the nearer tail, so that tails keep their
/// precision, and in double, rounded once.
template <class R>
TESSERA_FORMULA R truncated_normal_number(NormalInterval<R> const& interval, RandomBits<R> bits) {
  double const u = midpoint_double(bits);
  double const from_below = fused(u, interval.share, interval.below);
  // 1 - u, but computed from the bits, so that rounding never makes it 0.
  double const rest = midpoint_double(static_cast<RandomBits<R>>(~bits));
  double const from_above = fused(rest, interval.share, interval.above);
  bool const is_below = from_below < from_above;
  double const least = selected(is_below, from_below, from_above);
  double const x = normal_quantile(selected(least > 0.5, 0.5, least));
  return clamped(static_cast<R>(selected(is_below, -x, x)), interval.low, interval.high);
}

}  // namespace formula
}  // namespace tessera::detail
