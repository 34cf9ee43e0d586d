#pragma once
/// @file
/// Errors of elementary functions in units in the last place, with MPFR as the oracle.

#include <cmath>
#include <limits>
#include <span>

#include <mpfr.h>

namespace tessera::test::circular {

/// A number of MPFR with 128 digits.
class Exact {
 public:
  Exact() { mpfr_init2(value_, 128); }
  ~Exact() { mpfr_clear(value_); }
  Exact(Exact const&) = delete;
  Exact& operator=(Exact const&) = delete;

  [[nodiscard]] mpfr_ptr get() { return value_; }
  [[nodiscard]] mpfr_srcptr get() const { return value_; }

 private:
  mpfr_t value_;
};

/// The exponent of the last digit that numbers of type R have at this place.
template <class R>
long last_digit_of(mpfr_srcptr exact) {
  using Limits = std::numeric_limits<R>;
  constexpr long lowest = Limits::min_exponent - Limits::digits;
  if (mpfr_zero_p(exact) != 0) return lowest;
  long const normal = mpfr_get_exp(exact) - Limits::digits;
  return normal < lowest ? lowest : normal;
}

/// |found - exact| in units of the last digit of `exact`; infinite if one of the two is NaN, if one
/// is infinite where the other is far from the largest number, or if signs of zeros differ.
template <class R>
double ulps_between(R found, mpfr_srcptr exact) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  bool const both_nan = std::isnan(found) && mpfr_nan_p(exact) != 0;
  if (both_nan) return 0;
  if (std::isnan(found) || mpfr_nan_p(exact) != 0) return wrong;
  auto const nearest = sizeof(R) == 8 ? mpfr_get_d(exact, MPFR_RNDN)
                                      : static_cast<double>(mpfr_get_flt(exact, MPFR_RNDN));
  if (std::isinf(nearest) && std::isinf(found))
    return nearest == static_cast<double>(found) ? 0 : wrong;
  if (mpfr_inf_p(exact) != 0) return wrong;
  if (std::signbit(found) != (mpfr_signbit(exact) != 0)) return wrong;
  Exact difference;
  if (std::isinf(found)) {  // as the number that would follow the largest one
    mpfr_set_si_2exp(difference.get(), found > 0 ? 1 : -1, std::numeric_limits<R>::max_exponent,
                     MPFR_RNDN);
  } else {
    mpfr_set_d(difference.get(), static_cast<double>(found), MPFR_RNDN);
  }
  mpfr_sub(difference.get(), difference.get(), exact, MPFR_RNDN);
  mpfr_mul_2si(difference.get(), difference.get(), -last_digit_of<R>(exact), MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.get(), MPFR_RNDN));
}

using UnaryOracle = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using BinaryOracle = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/// log |Gamma(x)|, which in MPFR has one more argument.
inline int log_gamma(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  int sign;
  return mpfr_lgamma(result, &sign, x, rounding);
}

template <class R>
double ulps_of(UnaryOracle oracle, R found, R x) {
  static thread_local Exact argument;
  static thread_local Exact exact;
  mpfr_set_d(argument.get(), static_cast<double>(x), MPFR_RNDN);
  oracle(exact.get(), argument.get(), MPFR_RNDN);
  return ulps_between(found, exact.get());
}
template <class R>
double ulps_of(BinaryOracle oracle, R found, R x, R y) {
  static thread_local Exact first;
  static thread_local Exact second;
  static thread_local Exact exact;
  mpfr_set_d(first.get(), static_cast<double>(x), MPFR_RNDN);
  mpfr_set_d(second.get(), static_cast<double>(y), MPFR_RNDN);
  oracle(exact.get(), first.get(), second.get(), MPFR_RNDN);
  return ulps_between(found, exact.get());
}

}  // namespace tessera::test::circular
