/// @file
/// Special values of the elementary functions, and their errors with MPFR as the oracle.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "circular_arguments.hpp"
#include "circular_list.hpp"

using namespace tessera::test::circular;
namespace formula = tessera::detail::formula;

TEST_SUITE_BEGIN("formulas/circular");

namespace {

constexpr std::size_t samples = 200'000;

/// Equal, with the same sign if both are zeros; or both NaN.
template <class R>
bool is_same(R a, R b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

template <class Formula, class R>
void check(R x, R expected) {
  CAPTURE(x);
  auto const found = value_of<Formula>(x);
  CAPTURE(found);
  CHECK(is_same(found, expected));
}
template <class Formula, class R>
void check(R x, R y, R expected) {
  CAPTURE(x);
  CAPTURE(y);
  auto const found = value_of<Formula>(x, y);
  CAPTURE(found);
  CHECK(is_same(found, expected));
}

template <class R>
struct Numbers {
  static constexpr R inf = std::numeric_limits<R>::infinity();
  static constexpr R nan = std::numeric_limits<R>::quiet_NaN();
  static constexpr R largest = std::numeric_limits<R>::max();
  static constexpr R tiny = std::numeric_limits<R>::denorm_min();
  static constexpr R pi = std::numbers::pi_v<R>;
};

/// These functions keep the sign of a zero, and the smallest numbers are their own results.
template <class Formula, class R>
void check_odd_near_zero() {
  constexpr R tiny = Numbers<R>::tiny;
  for (R const x : {R{0}, -R{0}, tiny, -tiny, 5 * tiny}) check<Formula>(x, x);
  check<Formula>(Numbers<R>::nan, Numbers<R>::nan);
}

/// Each sample is closer to what MPFR finds than the list says.
template <class R, class Function>
void check_errors(Function const& function) {
  double worst = 0;
  R at{};
  for (R const given : arguments<R>(function.samples)) {
    R const x = function.only_positive ? std::fabs(given) : given;
    auto const error = ulps_of(function.oracle, value_of<typename Function::type>(x), x);
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  CAPTURE(std::string_view{function.name});
  CAPTURE(at);
  CHECK(worst <= function.template ulps<R>());
}
template <class R, class Function>
void check_errors_of_pairs(Function const& function) {
  auto const xs = arguments<R>(samples, 1);
  auto const others = arguments<R>(samples, 2);
  double worst = 0;
  R at{};
  R beside{};
  for (std::size_t i = 0; i < samples; ++i) {
    R const x = xs[i];
    R const other = others[samples - 1 - i];
    R const y = i % 2 == 0 ? other : x * std::fmod(other, R{4});
    auto const error = ulps_of(function.oracle, value_of<typename Function::type>(x, y), x, y);
    if (error > worst) {
      worst = error;
      at = x;
      beside = y;
    }
  }
  CAPTURE(std::string_view{function.name});
  CAPTURE(at);
  CAPTURE(beside);
  CHECK(worst <= function.template ulps<R>());
}

}  // namespace

TEST_CASE_TEMPLATE("sine, cosine and tangent of special values", R, double, float) {
  using N = Numbers<R>;
  check_odd_near_zero<formula::Sin, R>();
  check_odd_near_zero<formula::Tan, R>();
  for (R const x : {R{0}, -R{0}, N::tiny, -N::tiny}) check<formula::Cos>(x, R{1});
  for (R const x : {N::inf, -N::inf, N::nan}) {
    check<formula::Sin>(x, N::nan);
    check<formula::Cos>(x, N::nan);
    check<formula::Tan>(x, N::nan);
  }
}

TEST_CASE_TEMPLATE("arc functions of special values", R, double, float) {
  using N = Numbers<R>;
  check_odd_near_zero<formula::Atan, R>();
  check<formula::Atan>(N::inf, N::pi / 2);
  check<formula::Atan>(-N::inf, -N::pi / 2);
  check<formula::Atan>(N::largest, N::pi / 2);
  check<formula::Atan>(R{1}, N::pi / 4);

  check_odd_near_zero<formula::Asin, R>();
  check<formula::Asin>(R{1}, N::pi / 2);
  check<formula::Asin>(R{-1}, -N::pi / 2);
  check<formula::Acos>(R{1}, R{0});
  check<formula::Acos>(R{-1}, N::pi);
  for (R const x : {R{0}, -R{0}, N::tiny}) check<formula::Acos>(x, N::pi / 2);
  R const beyond = std::nextafter(R{1}, R{2});
  for (R const x : {beyond, -beyond, R{2}, N::largest, N::inf, -N::inf, N::nan}) {
    check<formula::Asin>(x, N::nan);
    check<formula::Acos>(x, N::nan);
  }
}

TEST_CASE_TEMPLATE("the direction of special points", R, double, float) {
  using N = Numbers<R>;
  // The angle in eighths of a turn of (x, y), as in the C standard, annex F.
  constexpr R zero = 0;
  constexpr R one = 1;
  struct Point {
    R y, x, eighths;
  };
  for (auto const [y, x, eighths] : std::vector<Point>{
           {zero, -zero, 4},     {zero, zero, 0},           {zero, -one, 4},
           {zero, one, 0},       {zero, N::inf, 0},         {zero, -N::inf, 4},
           {one, zero, 2},       {one, -zero, 2},           {one, -N::inf, 4},
           {one, N::inf, 0},     {N::inf, one, 2},          {N::inf, -one, 2},
           {N::inf, -N::inf, 3}, {N::inf, N::inf, 1},       {N::inf, zero, 2},
           {one, one, 1},        {N::tiny, N::tiny, 1},     {N::tiny, -N::tiny, 3},
           {one, -one, 3},       {N::tiny, -N::largest, 4}, {N::largest, N::largest, 1},
           {N::tiny, zero, 2},   {N::largest, N::tiny, 2},  {N::largest, -N::largest, 3}}) {
    R const expected =
        eighths == 3 ? static_cast<R>(3 * std::numbers::pi / 4) : eighths * N::pi / 4;
    check<formula::Atan2>(y, x, expected);
    check<formula::Atan2>(-y, x, -expected);
  }
  for (R const x : {zero, -one, N::inf, N::nan}) {
    check<formula::Atan2>(x, N::nan, N::nan);
    check<formula::Atan2>(N::nan, x, N::nan);
  }
  check<formula::Atan2>(N::tiny, one, N::tiny);
  check<formula::Atan2>(-N::tiny, N::largest, -zero);
  check<formula::Atan2>(N::tiny, R{0.5}, 2 * N::tiny);
}

TEST_CASE_TEMPLATE("roots of special values", R, double, float) {
  using N = Numbers<R>;
  for (R const x : {R{0}, -R{0}, N::inf, -N::inf, N::nan}) check<formula::Cbrt>(x, x);
  check<formula::Cbrt>(R{27}, R{3});
  check<formula::Cbrt>(R{-0.125}, R{-0.5});

  for (R const x : {R{0}, R{1}, N::tiny, N::largest, N::nan, N::inf}) {
    for (R const infinite : {N::inf, -N::inf}) {
      check<formula::Hypot>(x, infinite, N::inf);
      check<formula::Hypot>(infinite, -x, N::inf);
    }
  }
  for (R const x : {R{0}, -R{1}, N::tiny, N::largest, N::nan}) {
    check<formula::Hypot>(x, N::nan, N::nan);
    check<formula::Hypot>(N::nan, x, N::nan);
  }
  for (R const zero : {R{0}, -R{0}}) {
    for (R const x : {R{0}, R{1}, N::tiny, 3 * N::tiny, N::largest}) {
      check<formula::Hypot>(zero, -x, x);
      check<formula::Hypot>(x, zero, x);
    }
  }
  check<formula::Hypot>(N::largest, N::largest, N::inf);
  check<formula::Hypot>(3 * N::tiny, -4 * N::tiny, 5 * N::tiny);
  check<formula::Hypot>(R{-3}, R{4}, R{5});
}

TEST_CASE_TEMPLATE("the error function of special values", R, double, float) {
  using N = Numbers<R>;
  for (R const x : {R{0}, -R{0}, N::tiny, N::nan}) check<formula::Erf>(x, x);
  for (R const x : {R{7}, R{100}, N::largest, N::inf}) {
    check<formula::Erf>(x, R{1});
    check<formula::Erf>(-x, R{-1});
    check<formula::Erfc>(-x, R{2});
  }
  for (R const x : {R{30}, R{100}, N::largest, N::inf}) check<formula::Erfc>(x, R{0});
  for (R const x : {R{0}, -R{0}, N::tiny, -N::tiny}) check<formula::Erfc>(x, R{1});
  check<formula::Erfc>(N::nan, N::nan);
}

TEST_CASE_TEMPLATE("the gamma function of special values", R, double, float) {
  using N = Numbers<R>;
  for (R const x : {-N::inf, N::nan, R{-1}, R{-170}, R{-1000001}, -N::largest})
    check<formula::Tgamma>(x, N::nan);
  for (R const x : {R{0}, N::tiny, R{172}, N::largest, N::inf}) check<formula::Tgamma>(x, N::inf);
  check<formula::Tgamma>(-R{0}, -N::inf);
  check<formula::Tgamma>(-N::tiny, -N::inf);
  R factorial = 1;
  for (int n = 1; n < 13; ++n) {
    check<formula::Tgamma>(static_cast<R>(n), factorial);
    factorial *= static_cast<R>(n);
  }
  check<formula::Tgamma>(R{-190.5}, -R{0});
  check<formula::Tgamma>(R{-191.5}, R{0});
  check<formula::Tgamma>(R{-10000.5}, -R{0});

  for (R const x : {R{0}, -R{0}, R{-1}, R{-170}, -N::largest, N::inf, -N::inf})
    check<formula::Lgamma>(x, N::inf);
  for (R const x : {R{1}, R{2}}) check<formula::Lgamma>(x, R{0});
  check<formula::Lgamma>(N::nan, N::nan);
  if (sizeof(R) == 8) check<formula::Lgamma>(N::largest, N::inf);
}

TEST_CASE_TEMPLATE("the logarithm of gamma has a small error beside its zeros", R, double, float) {
  double const smallest = sizeof(R) == 8 ? 0x1p-54 : 0x1p-46;
  Exact exact;
  double worst = 0;
  ByExponent<R> random{7};
  for (std::size_t i = 0; i < samples / 4; ++i) {
    R const x =
        i % 2 == 0 ? -std::fabs(random.next()) : -std::fmod(std::fabs(random.next()), R{16});
    R const found = value_of<formula::Lgamma>(x);
    auto const ulps = ulps_of(log_gamma, found, x);
    mpfr_set_d(exact.get(), static_cast<double>(x), MPFR_RNDN);
    log_gamma(exact.get(), exact.get(), MPFR_RNDN);
    mpfr_sub_d(exact.get(), exact.get(), static_cast<double>(found), MPFR_RNDN);
    bool const is_close = std::fabs(mpfr_get_d(exact.get(), MPFR_RNDN)) <= smallest;
    if (!is_close) worst = std::max(worst, ulps);
  }
  CHECK(worst <= 1);
}

TEST_CASE_TEMPLATE("functions of one argument err less than their headers say", R, double, float) {
  for_each_unary([](auto const& function) { check_errors<R>(function); });
}

TEST_CASE_TEMPLATE("functions of two arguments err less than their headers say", R, double, float) {
  for_each_binary([](auto const& function) { check_errors_of_pairs<R>(function); });
}

TEST_SUITE_END();
