#pragma once
/// @file
/// Products of doubles that cannot overflow in between, with twice the digits of a double; on the
/// host and on GPUs.

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>

#include "tessera/detail/base/function.hpp"

namespace tessera::detail {
namespace wide {

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

}  // namespace wide

/// A running product as a number of 106 bits times a power of two, rounded once at the end.
///
/// The relative error before that rounding is at most n * 2^-102, so the value is the exact product
/// correctly rounded, whatever the order of the factors and however they are split, unless the
/// exact product lies that close to the middle between two doubles: for numbers without a pattern a
/// chance of about n * 2^-49.
/// Special values: an empty product is 1. A NaN, or a zero beside an infinity, gives NaN; else an
/// infinity or a zero gives itself, with the sign of the product. Only the whole product overflows
/// to an infinity or underflows, never a part of it.
///
/// Trivially copyable: it may be sent to other processes as bytes.
/// Threads: one at a time per object. The rounding mode must be to nearest.
/// Source: Dekker, A floating-point technique for extending the available precision (1971).
class WideProduct {
 public:
  /// Multiplies by all factors.
  void multiply(std::span<double const> factors);
  /// Multiplies by one factor, also on a GPU; many are faster in spans.
  TESSERA_FUNCTION void multiply(double factor) {
    using namespace detail::wide;
    auto bits = std::bit_cast<std::uint64_t>(factor);
    negative_ = negative_ != ((bits & sign_bit) != 0);
    bits &= ~sign_bit;
    if (bits == 0 || bits >= infinity_bits) {
      zero_ = zero_ || bits == 0;
      infinite_ = infinite_ || bits == infinity_bits;
      nan_ = nan_ || bits > infinity_bits;
      return;
    }
    if (bits <= fraction_bits) {  // subnormal
      bits = std::bit_cast<std::uint64_t>(std::bit_cast<double>(bits) * 0x1p64);
      exponent_ -= 64;
    }
    exponent_ += static_cast<std::int64_t>(bits >> 52) - 1023;
    WideProduct mantissa;
    mantissa.high_ = std::bit_cast<double>((bits & fraction_bits) | bits_of_one);
    merge(mantissa);
  }
  TESSERA_FUNCTION void merge(WideProduct const& other) {
    using namespace detail::wide;
    auto const product = product_of({high_, low_}, {other.high_, other.low_});
    double const scale = product.high >= 2 ? 0.5 : 1.0;
    high_ = product.high * scale;
    low_ = product.low * scale;
    exponent_ += other.exponent_ + (product.high >= 2 ? 1 : 0);
    negative_ = negative_ != other.negative_;
    zero_ = zero_ || other.zero_;
    infinite_ = infinite_ || other.infinite_;
    nan_ = nan_ || other.nan_;
  }
  [[nodiscard]] TESSERA_FUNCTION double value() const {
    using namespace detail::wide;
    if (nan_ || (zero_ && infinite_)) return std::numeric_limits<double>::quiet_NaN();
    double const sign = negative_ ? -1.0 : 1.0;
    if (infinite_) return sign * std::numeric_limits<double>::infinity();
    if (zero_) return sign * 0.0;
    auto const exponent = clamped(exponent_);
    bool const loses_digits = exponent < -1022;
    return sign * std::ldexp(loses_digits ? rounded_to_odd({high_, low_}) : high_, exponent);
  }

 private:
  double high_ = 1;  // in [1, 2)
  double low_ = 0;
  std::int64_t exponent_ = 0;
  bool negative_ = false;
  bool zero_ = false;
  bool infinite_ = false;
  bool nan_ = false;
};

/// The same for complex numbers: both parts have 106 bits relative to the larger one.
///
/// The error is at most n * 2^-97 of the product's magnitude, whatever the order of the factors and
/// however they are split; each part is rounded once at the end. A part that is that much smaller
/// than the other one may depend on the order.
/// Special values: an empty product is 1; a factor that is not finite makes both parts NaN; else a
/// zero gives zero. Only the whole product overflows or underflows, never a part of it.
class WideComplexProduct {
 public:
  /// The factors are real[i] + imaginary[i] i; the spans are equally long.
  void multiply(std::span<double const> real, std::span<double const> imaginary);
  /// Multiplies by one factor, also on a GPU.
  TESSERA_FUNCTION void multiply(double real, double imaginary) {
    using namespace detail::wide;
    if (!std::isfinite(real) || !std::isfinite(imaginary)) {
      not_finite_ = true;
      return;
    }
    double const larger = std::max(std::fabs(real), std::fabs(imaginary));
    if (larger == 0) {
      zero_ = true;
      return;
    }
    int const exponent = std::ilogb(larger);
    WideComplexProduct factor;
    factor.real_high_ = std::ldexp(real, -exponent);
    factor.imaginary_high_ = std::ldexp(imaginary, -exponent);
    factor.exponent_ = exponent;
    merge(factor);
  }
  TESSERA_FUNCTION void merge(WideComplexProduct const& other) {
    using namespace detail::wide;
    Wide const a{real_high_, real_low_};
    Wide const b{imaginary_high_, imaginary_low_};
    Wide const c{other.real_high_, other.real_low_};
    Wide const d{other.imaginary_high_, other.imaginary_low_};
    auto const real = sum_of(product_of(a, c), negative(product_of(b, d)));
    auto const imaginary = sum_of(product_of(a, d), product_of(b, c));
    // Magnitudes of 1 and more make one of 1 and more: the larger part stays above 0.7.
    int const step = std::ilogb(std::max(std::fabs(real.high), std::fabs(imaginary.high)));
    auto const scale = std::ldexp(1.0, -step);
    real_high_ = scaled(real, scale).high;
    real_low_ = scaled(real, scale).low;
    imaginary_high_ = scaled(imaginary, scale).high;
    imaginary_low_ = scaled(imaginary, scale).low;
    exponent_ += other.exponent_ + step;
    zero_ = zero_ || other.zero_;
    not_finite_ = not_finite_ || other.not_finite_;
  }
  [[nodiscard]] TESSERA_FUNCTION std::complex<double> value() const {
    using namespace detail::wide;
    if (not_finite_) {
      constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
      return {nan, nan};
    }
    if (zero_) return {0, 0};
    auto const exponent = clamped(exponent_);
    return {rounded({real_high_, real_low_}, exponent),
            rounded({imaginary_high_, imaginary_low_}, exponent)};
  }

 private:
  double real_high_ = 1;  // the larger part is in [1, 2)
  double real_low_ = 0;
  double imaginary_high_ = 0;
  double imaginary_low_ = 0;
  std::int64_t exponent_ = 0;
  bool zero_ = false;
  bool not_finite_ = false;
};

}  // namespace tessera::detail
