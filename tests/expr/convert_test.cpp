#include "tessera/detail/array/expr/convert.hpp"

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/detail/array/expr/operations.hpp"

#include "support/seeds.hpp"

using namespace tessera;
using detail::convert;

TEST_SUITE_BEGIN("expr/convert");

namespace {

/// The borders of ranges and of what a double holds, with their neighbours, and numbers of any
/// size.
template <class I>
std::vector<I> integers() {
  std::vector<I> result{0, 1, std::numeric_limits<I>::min(), std::numeric_limits<I>::max()};
  for (int bit = 1; bit < std::numeric_limits<I>::digits; ++bit)
    for (int near = -2; near <= 2; ++near) {
      auto const n = static_cast<I>((I{1} << bit) + static_cast<I>(near));
      result.push_back(n);
      result.push_back(static_cast<I>(I{0} - n));
    }
  std::mt19937_64 random(test::seed_of_all(7));
  for (int i = 0; i < 10000; ++i) result.push_back(static_cast<I>(random() >> (random() % 64)));
  return result;
}

template <class I>
void check_doubles_of_integers() {
  std::int64_t wrong = 0;
  for (auto const n : integers<I>()) {
    auto const expected = static_cast<double>(n);
    auto const found = convert<double>(n);
    wrong += found != expected || std::signbit(found) != std::signbit(expected);
  }
  CHECK(wrong == 0);
}

/// What convert promises, in long double, which holds every integer of 64 bits.
template <class I>
I nearest(double x) {
  using Limits = std::numeric_limits<I>;
  if (std::isnan(x)) return 0;
  if (x >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  if (x < static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<I>(x);
}

template <class I>
void check_integers_of_doubles() {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  std::vector<double> numbers{0.0,   -0.0,   0.5,      -0.5,      0x1p-1074,
                              1e300, -1e300, infinity, -infinity, std::nan("")};
  for (auto const n : integers<std::int64_t>())
    for (double const part : {0.0, 0.25, -0.75}) {
      auto const x = static_cast<double>(n);
      numbers.insert(numbers.end(),
                     {x + part, 2 * x, std::nextafter(x, 0), std::nextafter(x, infinity)});
    }
  std::int64_t wrong = 0;
  for (auto const x : numbers) {
    wrong += convert<I>(x) != nearest<I>(x);
    auto const single = static_cast<float>(x);
    wrong += convert<I>(single) != nearest<I>(single);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("integers of 64 bits become the nearest double") {
  check_doubles_of_integers<std::int64_t>();
  check_doubles_of_integers<std::uint64_t>();
}

TEST_CASE("zero is +0 however the thread rounds") {
  std::fesetround(FE_DOWNWARD);
  auto const zero = convert<double>(std::int64_t{0});
  std::fesetround(FE_TONEAREST);

  CHECK_FALSE(std::signbit(zero));
}

TEST_CASE("floating numbers become integers towards zero, or the nearest one in range") {
  check_integers_of_doubles<std::int32_t>();
  check_integers_of_doubles<std::uint32_t>();
  check_integers_of_doubles<std::int64_t>();
  check_integers_of_doubles<std::uint64_t>();
}

TEST_CASE("of a NaN and a number the smaller and the larger one are NaN") {
  auto const check = []<class T>(T number) {
    auto const nan = std::numeric_limits<T>::quiet_NaN();
    for (auto const& [a, b] : {std::pair{nan, number}, {number, nan}, {nan, nan}}) {
      auto const smaller = detail::Minimum::apply(a, b);
      auto const larger = detail::Maximum::apply(a, b);
      CHECK(smaller != smaller);
      CHECK(larger != larger);
    }
    CHECK(detail::Minimum::apply(number, T(2)) == number);
    CHECK(detail::Maximum::apply(number, T(2)) == T(2));
  };
  check(1.0);
  check(1.0F);
  check(1.0L);
  check(float16(1));
  check(bfloat16(1));
}

TEST_CASE("of zeros the first one is the smaller and the larger one") {
  CHECK(std::signbit(detail::Minimum::apply(-0.0, 0.0)));
  CHECK(std::signbit(detail::Maximum::apply(-0.0, 0.0)));
  CHECK_FALSE(std::signbit(detail::Minimum::apply(0.0, -0.0)));
  CHECK_FALSE(std::signbit(detail::Maximum::apply(0.0, -0.0)));
}

TEST_SUITE_END();
