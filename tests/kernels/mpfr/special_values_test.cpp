#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "functions.hpp"

using namespace tessera::test;
using tessera::detail::value_by;
using tessera::detail::formula::as_bits;

TEST_SUITE_BEGIN("formulas/special_values");

namespace {

template <class R>
struct Numbers {
  using Limits = std::numeric_limits<R>;
  static constexpr R inf = Limits::infinity();
  static constexpr R nan = Limits::quiet_NaN();
  static constexpr R max = Limits::max();
  static constexpr R min = Limits::min();
  static constexpr R tiny = Limits::denorm_min();
};

/// The same number, and the same zero; all NaNs are the same.
template <class R>
bool same(R a, R b) {
  return as_bits(a) == as_bits(b) || (std::isnan(a) && std::isnan(b));
}

template <class R>
struct Row {
  R x;
  R expected;
};
template <class F, class R>
void check(std::initializer_list<Row<R>> rows) {
  for (auto const& [x, expected] : rows) {
    R const found = value_by<typename F::Formula>(x);
    CHECK_MESSAGE(same(found, expected), std::string(F::name), "(", x, ") is ", found, ", not ",
                  expected);
  }
}

template <class R>
struct PowRow {
  R x;
  R y;
  R expected;
};
template <class R>
void check_pow(std::initializer_list<PowRow<R>> rows) {
  for (auto const& [x, y, expected] : rows) {
    R const found = Pow::Formula::usual(x, y);
    CHECK_MESSAGE(same(found, expected), "pow(", x, ", ", y, ") is ", found, ", not ", expected);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("the exponential functions have the values of C's Annex F", R, double, float) {
  using N = Numbers<R>;
  check<Exp, R>({{0, 1},
                 {R(-0.0), 1},
                 {N::inf, N::inf},
                 {-N::inf, 0},
                 {N::nan, N::nan},
                 {N::max, N::inf},
                 {-N::max, 0},
                 {N::tiny, 1},
                 {-N::min, 1},
                 {1e4, N::inf},
                 {-1e4, 0}});
  check<Exp2, R>({{0, 1},
                  {R(-0.0), 1},
                  {N::inf, N::inf},
                  {-N::inf, 0},
                  {N::nan, N::nan},
                  {N::max, N::inf},
                  {-N::max, 0},
                  {N::tiny, 1},
                  {-N::min, 1},
                  {R(N::Limits::max_exponent), N::inf},
                  {R(N::Limits::min_exponent - N::Limits::digits - 1), 0}});
  check<Expm1, R>({{0, 0},
                   {R(-0.0), R(-0.0)},
                   {N::inf, N::inf},
                   {-N::inf, -1},
                   {N::nan, N::nan},
                   {N::max, N::inf},
                   {-N::max, -1},
                   {N::tiny, N::tiny},
                   {-N::tiny, -N::tiny},
                   {N::min, N::min},
                   {-N::min, -N::min},
                   {-100, -1}});
}

TEST_CASE("the exponential functions are infinite from the right argument on") {
  double const last = 0x1.62e42fefa39efp+9;
  check<Exp, double>({{std::nextafter(last, 1e9), Numbers<double>::inf}});
  check<Expm1, double>({{std::nextafter(last, 1e9), Numbers<double>::inf}});
  CHECK(std::isfinite(value_by<Exp::Formula>(last)));
  CHECK(std::isfinite(value_by<Expm1::Formula>(last)));
  CHECK(value_by<Exp::Formula>(-745.1332191019411) == 0x1p-1074);
  CHECK(value_by<Exp::Formula>(-745.1332191019412) == 0);

  float const last_float = 0x1.62e42ep+6F;
  check<Exp, float>({{std::nextafter(last_float, 1e9F), Numbers<float>::inf}});
  check<Expm1, float>({{std::nextafter(last_float, 1e9F), Numbers<float>::inf}});
  CHECK(std::isfinite(value_by<Exp::Formula>(last_float)));
  CHECK(std::isfinite(value_by<Expm1::Formula>(last_float)));
}

TEST_CASE_TEMPLATE("2 to the power of an integer is exact, and so is its binary logarithm", R,
                   double, float) {
  using Limits = std::numeric_limits<R>;
  for (int k = Limits::min_exponent - Limits::digits; k < Limits::max_exponent; ++k) {
    R const power = std::ldexp(R(1), k);
    CHECK(value_by<Exp2::Formula>(R(k)) == power);
    CHECK(value_by<Log2::Formula>(power) == R(k));
    CHECK(Pow::Formula::usual(R(2), R(k)) == power);
  }
}

TEST_CASE_TEMPLATE("the logarithms have the values of C's Annex F", R, double, float) {
  using N = Numbers<R>;
  auto const check_log = [&]<class F>() {
    check<F, R>({{0, -N::inf},
                 {R(-0.0), -N::inf},
                 {1, 0},
                 {N::inf, N::inf},
                 {-N::inf, N::nan},
                 {N::nan, N::nan},
                 {-N::nan, N::nan},
                 {-1, N::nan},
                 {-N::tiny, N::nan},
                 {-N::max, N::nan}});
  };
  check_log.template operator()<Log>();
  check_log.template operator()<Log2>();
  check_log.template operator()<Log10>();
  check<Log1p, R>({{0, 0},
                   {R(-0.0), R(-0.0)},
                   {-1, -N::inf},
                   {N::inf, N::inf},
                   {-N::inf, N::nan},
                   {N::nan, N::nan},
                   {-2, N::nan},
                   {-N::max, N::nan},
                   {N::tiny, N::tiny},
                   {-N::tiny, -N::tiny},
                   {N::min, N::min}});
  CHECK(std::isnan(value_by<Log1p::Formula>(std::nextafter(R(-1), R(-2)))));
}

TEST_CASE("the decimal logarithm of a power of ten is exact") {
  for (int k = 0; k <= 22; ++k) CHECK(value_by<Log10::Formula>(std::pow(10.0, k)) == k);
  float power = 1;
  for (int k = 0; k <= 10; ++k, power *= 10) CHECK(value_by<Log10::Formula>(power) == float(k));
}

TEST_CASE_TEMPLATE("the hyperbolic functions have the values of C's Annex F", R, double, float) {
  using N = Numbers<R>;
  check<Sinh, R>({{0, 0},
                  {R(-0.0), R(-0.0)},
                  {N::inf, N::inf},
                  {-N::inf, -N::inf},
                  {N::nan, N::nan},
                  {N::max, N::inf},
                  {-N::max, -N::inf},
                  {N::tiny, N::tiny},
                  {-N::tiny, -N::tiny},
                  {N::min, N::min}});
  check<Cosh, R>({{0, 1},
                  {R(-0.0), 1},
                  {N::inf, N::inf},
                  {-N::inf, N::inf},
                  {N::nan, N::nan},
                  {N::max, N::inf},
                  {-N::max, N::inf},
                  {N::tiny, 1}});
  check<Tanh, R>({{0, 0},
                  {R(-0.0), R(-0.0)},
                  {N::inf, 1},
                  {-N::inf, -1},
                  {N::nan, N::nan},
                  {N::max, 1},
                  {-N::max, -1},
                  {N::tiny, N::tiny},
                  {-N::tiny, -N::tiny},
                  {N::min, N::min},
                  {100, 1}});
}

TEST_CASE_TEMPLATE("pow has the values of C's Annex F", R, double, float) {
  using N = Numbers<R>;
  R const zero = 0;
  R const even = std::ldexp(R(1), N::Limits::digits);  // from here on, every number is even
  R const largest_odd = even - 1;
  check_pow<R>({{zero, -1, N::inf},
                {-zero, -1, -N::inf},
                {-zero, -3, -N::inf},
                {zero, -2, N::inf},
                {-zero, -2, N::inf},
                {-zero, R(-1.5), N::inf},
                {-zero, -even, N::inf},
                {-zero, -largest_odd, -N::inf},
                {zero, -N::inf, N::inf},
                {-zero, -N::inf, N::inf},
                {zero, 1, zero},
                {-zero, 1, -zero},
                {-zero, 3, -zero},
                {-zero, 2, zero},
                {-zero, R(0.5), zero},
                {zero, N::inf, zero},
                {-zero, N::inf, zero},
                {zero, N::tiny, zero},
                {zero, -N::tiny, N::inf}});
  check_pow<R>({{-1, N::inf, 1},
                {-1, -N::inf, 1},
                {1, N::inf, 1},
                {1, N::nan, 1},
                {1, -N::max, 1},
                {-1, N::max, 1},
                {-1, largest_odd, -1},
                {N::nan, 0, 1},
                {N::nan, -zero, 1},
                {N::inf, 0, 1},
                {-N::inf, -zero, 1},
                {zero, zero, 1},
                {-zero, -zero, 1},
                {-5, zero, 1}});
  check_pow<R>({{-2, R(0.5), N::nan},
                {-2, R(-1.5), N::nan},
                {-N::tiny, R(0.1), N::nan},
                {-N::max, N::tiny, N::nan},
                {N::nan, 1, N::nan},
                {2, N::nan, N::nan},
                {-1, N::nan, N::nan},
                {zero, N::nan, N::nan},
                {N::inf, N::nan, N::nan},
                {N::nan, N::inf, N::nan},
                {N::nan, N::nan, N::nan},
                {-1, R(0.5), N::nan}});
  check_pow<R>({{R(0.5), -N::inf, N::inf},
                {R(-0.5), -N::inf, N::inf},
                {2, -N::inf, zero},
                {-2, -N::inf, zero},
                {R(0.5), N::inf, zero},
                {R(-0.5), N::inf, zero},
                {2, N::inf, N::inf},
                {-2, N::inf, N::inf}});
  check_pow<R>({{-N::inf, -1, -zero},
                {-N::inf, -3, -zero},
                {-N::inf, -2, zero},
                {-N::inf, R(-0.5), zero},
                {-N::inf, 1, -N::inf},
                {-N::inf, 3, -N::inf},
                {-N::inf, 2, N::inf},
                {-N::inf, R(0.5), N::inf},
                {-N::inf, N::inf, N::inf},
                {-N::inf, -N::inf, zero},
                {N::inf, -1, zero},
                {N::inf, 1, N::inf},
                {N::inf, N::inf, N::inf},
                {N::inf, -N::inf, zero}});
  check_pow<R>({{N::max, 2, N::inf},
                {-N::max, 3, -N::inf},
                {N::tiny, 2, zero},
                {-N::tiny, 3, -zero},
                {-2, 3, -8},
                {-2, -1, R(-0.5)},
                {3, 5, 243},
                {10, 2, 100},
                {N::max, 1, N::max},
                {N::tiny, 1, N::tiny},
                {-N::tiny, 1, -N::tiny},
                {N::max, N::max, N::inf},
                {N::max, -N::max, zero},
                {N::min, 1, N::min},
                {2, N::tiny, 1},
                {N::max, N::tiny, 1}});
}

TEST_SUITE_END();
