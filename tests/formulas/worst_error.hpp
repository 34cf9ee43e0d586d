#pragma once
/// @file
/// The largest error of a function in units of the last place, with MPFR as the oracle.

#include <cmath>
#include <limits>
#include <type_traits>

#include <mpfr.h>

#include "tessera/detail/formulas/steps.hpp"

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
    for (std::size_t j = 0; j < of.count; ++j)
      take_one(of.x[j], F::arguments == 2 ? of.y[j] : R{0}, results[j]);
  }
  [[nodiscard]] Worst<R> const& worst() const { return worst_; }

 private:
  using Wide = std::conditional_t<sizeof(R) == 8, long double, double>;

  void take_one(R x, R y, R result) {
    // The wide function errs by less than 1/1000: few arguments need the oracle.
    if (about(x, y, result) < worst_.error) return;
    auto const error = exactly(x, y, result);
    if (error > worst_.error) worst_ = {error, x, y};
  }
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  static double about(R x, R y, R result) {
    namespace formula = tessera::detail::formula;
    Wide wide;
    if constexpr (F::arguments == 2)
      wide = F::wide(Wide{x}, Wide{y});
    else
      wide = F::wide(Wide{x});
    if (std::isnan(result) && std::isnan(wide)) return -1;
    R const size = formula::magnitude(result);
    if (!(size < formula::infinity<R>())) {
      bool const is_beyond = std::fabs(wide) > Wide{2} * std::numeric_limits<R>::max();
      return is_beyond && std::signbit(wide) == std::signbit(result) ? -1 : infinite;
    }
    if (size == 0 && wide == 0) return -1;
    R const below = size == 0 ? size : formula::of_bits<R>(formula::as_bits(size) - 1);
    R const unit = formula::of_bits<R>(formula::as_bits(below) + 1) - below;
    return static_cast<double>(std::fabs(Wide{result} - wide) / Wide{unit}) * 1.002 + 0.001;
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
