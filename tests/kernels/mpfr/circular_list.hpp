#pragma once
/// @file
/// The functions that the tests of circular functions and their like go through.

#include <cmath>
#include <cstddef>

#include "tessera/detail/kernels/formulas/arcsine.hpp"
#include "tessera/detail/kernels/formulas/arctangent.hpp"
#include "tessera/detail/kernels/formulas/error_function.hpp"
#include "tessera/detail/kernels/formulas/gamma.hpp"
#include "tessera/detail/kernels/formulas/log_gamma.hpp"
#include "tessera/detail/kernels/formulas/roots.hpp"
#include "tessera/detail/kernels/formulas/sine.hpp"

#include "mpfr_oracle.hpp"

namespace tessera::test::circular {

/// A function of one argument, what MPFR and C call it, and the error that it may have.
template <class Formula>
struct Unary {
  using type = Formula;
  char const* name;
  UnaryOracle oracle;
  double (*in_c)(double);
  double ulps_of_double;
  double ulps_of_float;
  std::size_t samples = 200'000;  ///< in the tests; fewer where MPFR is slow
  bool only_positive = false;     ///< the error is not relative to results for negative arguments

  template <class R>
  [[nodiscard]] double ulps() const {
    return sizeof(R) == 8 ? ulps_of_double : ulps_of_float;
  }
};
/// The same of two arguments.
template <class Formula>
struct Binary {
  using type = Formula;
  char const* name;
  BinaryOracle oracle;
  double ulps_of_double;
  double ulps_of_float;

  template <class R>
  [[nodiscard]] double ulps() const {
    return sizeof(R) == 8 ? ulps_of_double : ulps_of_float;
  }
};

template <class Visit>
void for_each_unary(Visit const& visit) {
  namespace f = detail::formula;
  visit(Unary<f::Sin>{"sin", mpfr_sin, std::sin, 0.75, 0.51});
  visit(Unary<f::Cos>{"cos", mpfr_cos, std::cos, 0.75, 0.51});
  visit(Unary<f::Tan>{"tan", mpfr_tan, std::tan, 0.85, 0.51});
  visit(Unary<f::Atan>{"atan", mpfr_atan, std::atan, 0.7, 0.51});
  visit(Unary<f::Asin>{"asin", mpfr_asin, std::asin, 0.7, 0.51});
  visit(Unary<f::Acos>{"acos", mpfr_acos, std::acos, 0.7, 0.51});
  visit(Unary<f::Cbrt>{"cbrt", mpfr_cbrt, std::cbrt, 0.51, 0.51});
  visit(Unary<f::Erf>{"erf", mpfr_erf, std::erf, 0.9, 0.51});
  visit(Unary<f::Tgamma>{"tgamma", mpfr_gamma, std::tgamma, 0.8, 0.51, 40'000});
  visit(Unary<f::Lgamma>{"lgamma", log_gamma, std::lgamma, 0.9, 0.51, 40'000, true});
  visit(Unary<f::Erfc>{"erfc", mpfr_erfc, std::erfc, 1.4, 0.51});
}
template <class Visit>
void for_each_binary(Visit const& visit) {
  namespace f = detail::formula;
  visit(Binary<f::Atan2>{"atan2", mpfr_atan2, 1.0, 0.51});
  visit(Binary<f::Hypot>{"hypot", mpfr_hypot, 0.76, 0.51});
}

/// What an array's loop computes of one cell: the usual way, or the rare one where it is needed.
template <class Formula, class... R>
auto value_of(R... x) {
  if constexpr (requires { Formula::is_rare(x...); })
    if (Formula::is_rare(x...)) return Formula::rare(x...);
  return Formula::usual(x...);
}

}  // namespace tessera::test::circular
