#pragma once
/// @file
/// The largest error of a function in units of the last place, with MPFR as the oracle.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <mpfr.h>

#include "tessera/detail/kernels/formulas/steps.hpp"

#include "functions.hpp"

namespace tessera::test {

/// A number of MPFR.
class Exact {
 public:
  Exact() { mpfr_init2(value_, 160); }
  explicit Exact(double x) : Exact() { mpfr_set_d(value_, x, MPFR_RNDN); }
  Exact(Exact const&) = delete;
  Exact& operator=(Exact const&) = delete;
  ~Exact() { mpfr_clear(value_); }

  [[nodiscard]] mpfr_ptr get() { return value_; }

  /// |computed - *this| in units of the last place of an R that is nearest to *this. Infinity
  /// counts as the power of two behind the largest number; so does everything beyond.
  template <class R>
  [[nodiscard]] double error_of(R computed) {
    using Limits = std::numeric_limits<R>;
    if (std::isnan(computed) || mpfr_nan_p(value_) != 0)
      return std::isnan(computed) && mpfr_nan_p(value_) != 0 ? 0 : infinite;
    Exact const beyond(0x1p0);
    Exact difference(std::isinf(computed) ? std::copysign(1.0, computed) : double{computed});
    if (std::isinf(computed))
      mpfr_mul_2si(difference.value_, difference.value_, Limits::max_exponent, MPFR_RNDN);
    if (!(mpfr_cmpabs_to_power(Limits::max_exponent) < 0)) {
      mpfr_set_si(value_, mpfr_sgn(value_), MPFR_RNDN);
      mpfr_mul_2si(value_, value_, Limits::max_exponent, MPFR_RNDN);
    }
    if (mpfr_zero_p(value_) != 0) return computed == 0 ? 0 : infinite;
    auto exponent = mpfr_get_exp(value_);
    if (exponent > Limits::max_exponent) exponent = Limits::max_exponent;
    if (exponent < Limits::min_exponent) exponent = Limits::min_exponent;
    mpfr_sub(difference.value_, difference.value_, value_, MPFR_RNDN);
    mpfr_mul_2si(difference.value_, difference.value_, Limits::digits - exponent, MPFR_RNDN);
    return std::fabs(mpfr_get_d(difference.value_, MPFR_RNDN));
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  [[nodiscard]] int mpfr_cmpabs_to_power(int exponent) const {
    if (mpfr_inf_p(value_) != 0) return 1;
    return mpfr_zero_p(value_) == 0 && mpfr_get_exp(value_) > exponent ? 1 : -1;
  }

  mpfr_t value_;
};

/// The largest error so far, and where.
template <class R>
struct Worst {
  double error = 0;
  R x = 0;
  R y = 0;
};

/// Keeps the largest error of F.
template <class F, class R>
class WorstError {
 public:
  void take(Arguments<R> of, R const* results) {
    constexpr std::size_t most = 1024;
    std::array<Wide, most> wide;
    std::array<double, most> estimates;
    for (std::size_t begin = 0; begin < of.count; begin += most) {
      auto const size = std::min(most, of.count - begin);
      for (std::size_t j = 0; j < size; ++j) wide[j] = wide_value(of, begin + j);
      for (std::size_t j = 0; j < size; ++j) estimates[j] = estimate(results[begin + j], wide[j]);
      for (std::size_t j = 0; j < size; ++j)
        if (!(estimates[j] < worst_.error)) take_exactly(of, begin + j, results[begin + j]);
    }
  }
  [[nodiscard]] Worst<R> const& worst() const { return worst_; }

 private:
  using Wide = std::conditional_t<sizeof(R) == 8, long double, double>;

  static Wide wide_value(Arguments<R> of, std::size_t j) {
    if constexpr (F::arguments == 2)
      return F::wide(Wide{of.x[j]}, Wide{of.y[j]});
    else
      return F::wide(Wide{of.x[j]});
  }
  /// A little more than the error of `result`, because that of `wide` is less than 1/1000: few
  /// arguments need the oracle. -1 if there is none, NaN if that is not clear.
  static double estimate(R result, Wide wide) {
    namespace formula = tessera::detail::formula;
    R const size = formula::magnitude(result);
    auto const bits = formula::as_bits(size);
    R const below = formula::of_bits<R>(bits - (bits != 0 ? 1 : 0));
    R const unit = formula::of_bits<R>(formula::as_bits(below) + 1) - below;
    auto const error = static_cast<double>(std::fabs(Wide{result} - wide) / Wide{unit});
    bool const is_beyond = Wide{result} * wide > Wide{2} * std::numeric_limits<R>::max();
    bool const is_infinite = size == formula::infinity<R>();
    bool const is_right = ((result != result) & (wide != wide)) | (is_infinite & is_beyond);
    return is_right ? -1 : error * 1.002 + 0.001;
  }
  void take_exactly(Arguments<R> of, std::size_t j, R result) {
    R const x = of.x[j];
    R const y = F::arguments == 2 ? of.y[j] : R{0};
    auto const error = exactly(x, y, result);
    if (error > worst_.error) worst_ = {error, x, y};
  }
  static double exactly(R x, R y, R result) {
    Exact value;
    Exact exact_x(x);
    if constexpr (F::arguments == 2) {
      Exact exact_y(y);
      F::exact(value.get(), exact_x.get(), exact_y.get());
    } else {
      F::exact(value.get(), exact_x.get());
    }
    return value.error_of(result);
  }

  Worst<R> worst_;
};

}  // namespace tessera::test
