#pragma once
/// @file
/// Numbers of 106 bits, on the host and on GPUs.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tessera/detail/base/function.hpp"

#ifdef __FAST_MATH__
#error "the error of a product needs arithmetic as written; compile without -ffast-math"
#endif

namespace tessera::detail::wide {

inline constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
inline constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000ULL;
inline constexpr std::uint64_t fraction_bits = 0x000f'ffff'ffff'ffffULL;
inline constexpr std::uint64_t bits_of_one = 0x3ff0'0000'0000'0000ULL;

/// A number of 106 bits: high + low, with |low| at most half a unit in the last place of high.
struct Wide {
  double high;
  double low;
};

#ifdef __FMA__
[[nodiscard]] TESSERA_FUNCTION inline double error_of_product(double a, double b, double product) {
  return std::fma(a, b, -product);
}
#else
/// The upper half of the digits. Exact for numbers of moderate size.
[[nodiscard]] TESSERA_FUNCTION inline double upper_half(double x) {
  double const scaled = x * 134217729.0;  // 2^27 + 1
  return scaled - (scaled - x);
}

[[nodiscard]] TESSERA_FUNCTION inline double error_of_product(double a, double b, double product) {
  double const a1 = upper_half(a);
  double const b1 = upper_half(b);
  double const a2 = a - a1;
  double const b2 = b - b1;
  return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
}
#endif

[[nodiscard]] TESSERA_FUNCTION inline Wide product_of(Wide const& a, Wide const& b) {
  double const product = a.high * b.high;
  double const rest = error_of_product(a.high, b.high, product) + (a.high * b.low + a.low * b.high);
  double const high = product + rest;
  return {high, rest - (high - product)};
}

/// The error is small relative to the larger of the two, even if they cancel.
[[nodiscard]] TESSERA_FUNCTION inline Wide sum_of(Wide const& a, Wide const& b) {
  double const sum = a.high + b.high;
  double const of_b = sum - a.high;
  double const rest = ((a.high - (sum - of_b)) + (b.high - of_b)) + (a.low + b.low);
  double const high = sum + rest;
  return {high, rest - (high - sum)};
}

[[nodiscard]] TESSERA_FUNCTION inline Wide negative(Wide const& x) {
  return {-x.high, -x.low};
}

[[nodiscard]] TESSERA_FUNCTION inline Wide scaled(Wide const& x, double power_of_two) {
  return {x.high * power_of_two, x.low * power_of_two};
}

/// The neighbour of `high` whose last digit records the truncated part (round to odd): rounding it
/// to fewer digits rounds high + low.
[[nodiscard]] TESSERA_FUNCTION inline double rounded_to_odd(Wide const& x) {
  auto bits = std::bit_cast<std::uint64_t>(x.high);
  if (x.low != 0 && (bits & 1U) == 0) bits = x.low > 0 ? bits + 1 : bits - 1;
  return std::bit_cast<double>(bits);
}

inline constexpr int beyond = 5000;  // every double over- and underflows before that

[[nodiscard]] TESSERA_FUNCTION inline int clamped(std::int64_t exponent) {
  return static_cast<int>(
      std::min<std::int64_t>(std::max<std::int64_t>(exponent, -beyond), beyond));
}

/// x * 2^exponent, rounded once.
[[nodiscard]] TESSERA_FUNCTION inline double rounded(Wide const& x, int exponent) {
  double const result = std::ldexp(x.high, exponent);
  bool const loses_digits = std::fabs(result) <= std::numeric_limits<double>::min();
  return loses_digits ? std::ldexp(rounded_to_odd(x), exponent) : result;
}

}  // namespace tessera::detail::wide
