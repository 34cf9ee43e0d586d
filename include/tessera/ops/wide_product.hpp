#pragma once
/// @file
/// A product of doubles that cannot overflow half-way, with twice the digits of a double.

#include <complex>
#include <cstdint>
#include <span>

namespace tessera {

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
  /// Multiplies by another product.
  void merge(WideProduct const& other);
  [[nodiscard]] double value() const;

 private:
  void multiply(double factor);

  double high_ = 1;  // in [1, 2)
  double low_ = 0;
  std::int64_t exponent_ = 0;
  bool negative_ = false;
  bool zero_ = false;
  bool infinite_ = false;
  bool nan_ = false;
};

/// The same for complex numbers, both parts of which have 106 bits beside the larger one.
///
/// The error is at most n * 2^-97 of the product's magnitude, whatever the order of the factors and
/// however they are split; each part is rounded once at the end. A part that is that much smaller
/// than the other one may depend on the order.
/// Special values: an empty product is 1; a factor that is not finite makes both parts NaN; else a
/// zero gives zero. Only the whole product overflows or underflows, never a part of it.
///
/// Trivially copyable: it may be sent to other processes as bytes.
/// Threads: one at a time per object. The rounding mode must be to nearest.
class WideComplexProduct {
 public:
  /// The factors are real[i] + imaginary[i] i; the spans are equally long.
  void multiply(std::span<double const> real, std::span<double const> imaginary);
  /// Multiplies by another product.
  void merge(WideComplexProduct const& other);
  [[nodiscard]] std::complex<double> value() const;

 private:
  void multiply(double real, double imaginary);

  double real_high_ = 1;  // the larger part is in [1, 2)
  double real_low_ = 0;
  double imaginary_high_ = 0;
  double imaginary_low_ = 0;
  std::int64_t exponent_ = 0;
  bool zero_ = false;
  bool not_finite_ = false;
};

}  // namespace tessera
