#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "tessera/ops/reductions.hpp"

#include "src/ops/detail.hpp"

#include "support/arrays.hpp"

#include "oracle.hpp"

using namespace tessera;
using test::over;

/// Means, variances, products, norms and places, of whole expressions.
TEST_SUITE_BEGIN("ops/statistics");

namespace {

using Doubles = std::vector<double>;
__extension__ using Quad = __float128;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

template <class T>
DistArray<T, 1> made_of(std::vector<T> const& cells, std::int64_t devices = 3) {
  return from_host<T, 1>(std::span<T const>(cells), {std::ssize(cells)}, over(devices));
}

template <class T>
bool same(T a, T b) {
  return test::same_bits(std::vector<T>{a}, std::vector<T>{b});
}

// A large mean and small differences: what one pass over the squares gets wrong.
Doubles far_off(std::size_t count) {
  test::Random random(count);
  Doubles terms;
  for (std::size_t i = 0; i < count; ++i)
    terms.push_back(1e9 + static_cast<double>(random.between(-1'000'000, 1'000'000)) * 0.3e-6);
  return terms;
}

double exact_var(Doubles const& terms) {
  Quad mean = 0;
  for (auto const x : terms) mean += x;
  mean /= static_cast<Quad>(terms.size());
  Quad squares = 0;
  for (auto const x : terms) squares += (x - mean) * (x - mean);
  return static_cast<double>(squares / static_cast<Quad>(terms.size()));
}

}  // namespace

TEST_CASE("means, variances and norms by hand") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto const u = made_of<std::int32_t>({3, -4, 0, 1}, devices);
    auto const x = made_of<double>({1, 2, 4, 5}, devices);
    static_assert(std::is_same_v<decltype(mean(u).value()), double>);
    static_assert(std::is_same_v<decltype(mean(cast<float>(u)).value()), float>);

    CHECK_ALL(same(mean(x).value(), 3.0));
    CHECK_ALL(same(mean(u).value(), 0.0));
    CHECK_ALL(same(mean(u > 0).value(), 0.5));
    CHECK_ALL(same(var(x).value(), 2.5));
    CHECK_ALL(same(var(x, 2).value(), 5.0));
    CHECK_ALL(same(stddev(2.0 * x, 3).value(), std::sqrt(40.0)));
    CHECK_ALL(same(norm(u).value(), std::sqrt(26.0)));
    CHECK_ALL(same(norm(u, 1).value(), 8.0));
    CHECK_ALL(same(norm(u, 2).value(), std::sqrt(26.0)));
    CHECK_ALL(same(norm(u, inf).value(), 4.0));
    CHECK_ALL(same(norm(cast<float>(u), inf).value(), 4.0F));
    CHECK_ALL(count(u) == 3);
    CHECK_ALL(count(u > 0) == 2);
    CHECK_ALL(count(x / x == 1.0) == 4);
  }
}

TEST_CASE("means, variances, norms and dots have the same bits on any layout") {
  for (std::int64_t const extent : {1, 7, 60, 1000}) {
    auto const terms = far_off(static_cast<std::size_t>(extent));
    Doubles squares;
    for (auto const x : terms) squares.push_back(x * x);
    for (auto const& sharding : test::layouts_of_row(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto const u = from_host<double, 1>(std::span<double const>(terms), {extent}, sharding);
      CHECK_ALL(same(mean(u).value(), test::mean_of(terms)));
      CHECK_ALL(same(var(u).value(), test::var_of(terms)));
      CHECK_ALL(same(stddev(u).value(), std::sqrt(test::var_of(terms))));
      CHECK_ALL(same(norm(u).value(), std::sqrt(test::sum_of(squares))));
      CHECK_ALL(same(dot(u, u).value(), test::sum_of(squares)));
    }
    auto const exact = exact_var(terms);
    CHECK(std::fabs(test::var_of(terms) - exact) <= 1e-9 * exact);
  }
}

TEST_CASE("a dot is the sum of the products in a wide type") {
  auto const a = made_of<std::int32_t>({2147483647, 2, -3});
  auto const b = made_of<std::int32_t>({2147483647, 5, 7}, 2);
  auto const f = made_of<float>({16777217.0F, 0.1F, 3.0F});
  static_assert(std::is_same_v<decltype(dot(a, b).value()), std::int64_t>);
  static_assert(std::is_same_v<decltype(dot(f, f).value()), float>);

  CHECK_ALL(dot(a, b) == std::int64_t{2147483647} * 2147483647 - 11);
  CHECK_ALL(dot(a + 0, b) == std::int64_t{2147483647} * 2147483647 - 11);
  BinnedSum squares;
  for (double const x : {16777217.0F, 0.1F, 3.0F}) squares.add(x * x);
  CHECK_ALL(same(dot(f, f).value(), static_cast<float>(squares.value())));
  auto const plane = iota<std::int64_t>({3, 4}, over(2, 4));
  CHECK_ALL(dot(plane, plane(tessera::all, tessera::all)) == 506);
  CHECK_ALL_THROW((void)dot(a, b(range(0, 2))), ShapeError);
}

TEST_CASE("integer products wrap, floating ones are rounded once and cannot overflow half-way") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    CHECK_ALL(prod(made_of<std::int32_t>({3, -5, 100000, 100000}, devices)) == -150000000000);
    CHECK_ALL(prod(made_of<std::uint8_t>({255, 255, 2}, devices)) == 130050U);
    CHECK_ALL(prod(made_of<double>({1, 2, 3}, devices) > 0) == 1);
    auto const far = made_of<double>({0x1p1000, 3, 0x1p1000, 0x1p-1001, 0x1p-999}, devices);
    CHECK_ALL(same(prod(far).value(), 3.0));
    CHECK_ALL(same(prod(made_of<double>({}, devices)).value(), 1.0));
    CHECK_ALL(same(prod(made_of<double>({largest, 2}, devices)).value(), infinity));
    CHECK_ALL(std::isnan(prod(made_of<double>({infinity, 1, 0}, devices)).value()));
    CHECK_ALL(same(prod(made_of<float>({-0.0F, 1, 3}, devices)).value(), -0.0F));
  }
  Doubles factors;
  test::Random random(3);
  for (int i = 0; i < 500; ++i)
    factors.push_back(1 + static_cast<double>(random.between(-999, 999)) * 0.0003);
  WideProduct serial;
  serial.multiply(factors);
  for (auto const& sharding : test::layouts_of_row(500)) {
    auto const u = from_host<double, 1>(std::span<double const>(factors), {500}, sharding);
    CHECK_ALL(same(prod(u).value(), serial.value()));
  }
}

TEST_CASE("the place of an extreme is the first one in row-major order, of NaN if there is one") {
  auto const m = test::Mirror<std::int64_t>::made_of(
      {7, 11}, [](Index const& i) { return (i[0] * 5 + i[1] * 3) % 13; });
  auto negative = m.cells;
  for (auto& x : negative) x = -x;
  for (auto const& sharding : test::layouts_of_plane(7, 11)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<std::int64_t, 2>(m, sharding);
    CHECK_ALL(argmin(u) == test::argmin_of(m.cells));
    CHECK_ALL(argmax(u) == test::argmin_of(negative));
    CHECK_ALL(argmin(u(range(2, 5), tessera::all) * 0) == 0);
  }
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    CHECK_ALL(argmin(made_of<double>({0.0, 1, -0.0, -0.0}, devices)) == 0);
    CHECK_ALL(argmax(made_of<double>({-infinity, 1, infinity, infinity}, devices)) == 2);
    auto const with_nan = made_of<double>({1, -5, not_a_number, 7, not_a_number}, devices);
    CHECK_ALL(argmin(with_nan) == 2);
    CHECK_ALL(argmax(with_nan) == 2);
    CHECK_ALL(argmax(made_of<double>({2, 8, 8, 8}, devices) > 3.0) == 1);
  }
}

TEST_CASE("NaN, infinities and values beyond the range") {
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    auto const with_nan = made_of<double>({1, not_a_number, 3, 4}, devices);
    auto const high = made_of<double>({1, infinity, 3, 4}, devices);
    auto const huge = made_of<double>({largest, largest, -largest, 1}, devices);
    CHECK_ALL(std::isnan(mean(with_nan).value()));
    CHECK_ALL(std::isnan(var(with_nan).value()));
    CHECK_ALL(std::isnan(norm(with_nan, inf).value()));
    CHECK_ALL(same(mean(high).value(), infinity));
    CHECK_ALL(std::isnan(var(high).value()));
    CHECK_ALL(same(norm(high, 1).value(), infinity));
    CHECK_ALL(same(sum(huge).value(), largest));
    CHECK_ALL(same(sum(made_of<double>({largest, largest, 1}, devices)).value(), infinity));
    CHECK_ALL(same(norm(huge).value(), infinity));
    CHECK_ALL(same(dot(huge, -huge).value(), -infinity));
    CHECK_ALL(std::isnan(dot(high, made_of<double>({1, 0, 1, 1}, devices)).value()));
    CHECK_ALL(count(with_nan) == 4);
  }
}

TEST_CASE("nothing at all") {
  auto const nothing = zeros<double>({0}, over(8));
  CHECK_ALL(std::isnan(mean(nothing).value()));
  CHECK_ALL(std::isnan(var(nothing).value()));
  CHECK_ALL(std::isnan(var(made_of<double>({1}), 1).value()));
  CHECK_ALL(same(norm(nothing).value(), 0.0));
  CHECK_ALL(same(dot(nothing, nothing).value(), 0.0));
  CHECK_ALL(count(nothing) == 0);
  auto const before = counters();
  CHECK_ALL_THROW((void)argmin(nothing), ShapeError);
  CHECK_ALL_THROW((void)argmax(nothing), ShapeError);
  CHECK_ALL_THROW((void)norm(nothing, inf), ShapeError);
  CHECK_ALL_THROW((void)norm(nothing, 3), UsageError);
  CHECK_ALL(counters() == before);
}

TEST_CASE("a fast sum is close, and exact where no term is rounded") {
  auto const terms = far_off(5000);
  auto const exact = test::sum_of(terms);
  for (auto const& sharding : test::layouts_of_row(5000)) {
    auto const u = from_host<double, 1>(std::span<double const>(terms), {5000}, sharding);
    CHECK_ALL(std::fabs(sum(u, fast).value() - exact) <= 1e-12 * exact);
    CHECK_ALL(sum(cast<std::int64_t>(u * 0.0) + 2, fast) == 10000);
  }
  CHECK_ALL(same(sum(made_of<float>({1, 2, 4}), fast).value(), 7.0F));
}

TEST_SUITE_END();
