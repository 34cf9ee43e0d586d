#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "axes.hpp"

using namespace tessera;
using test::Doubles;
using test::holds;
using test::in_each_layout;
using test::Integers;
using test::over;
using test::reduced_by;

/// Everything but sums, over some dimensions.
TEST_SUITE_BEGIN("ops/axis_statistics");

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// A few values, many of them equal.
test::Mirror<std::int64_t> few_values(Shape const& shape) {
  test::Random random(11);
  return test::Mirror<std::int64_t>::made_of(shape,
                                             [&](Index const&) { return random.between(-2, 3); });
}

DistArray<double, 2> in_rows(test::Mirror<double> const& m) {
  return test::spread_out<double, 2>(m, over(3, 1));
}

}  // namespace

TEST_CASE("extremes and their places along each dimension") {
  auto const m = few_values({7, 11});
  auto const least = [](Integers const& x) { return *std::min_element(x.begin(), x.end()); };
  auto const most = [](Integers const& x) { return *std::max_element(x.begin(), x.end()); };
  auto const first_most = [](Integers const& x) {
    return std::max_element(x.begin(), x.end()) - x.begin();
  };
  in_each_layout(m, [&](auto const& u) {
    CHECK_ALL(holds(min(u, axis(0)), reduced_by(m, {0}, least)));
    CHECK_ALL(holds(max(u, axis(1)), reduced_by(m, {1}, most)));
    CHECK_ALL(holds(argmin(u, axis(0)), reduced_by(m, {0}, test::argmin_of<std::int64_t>)));
    CHECK_ALL(holds(argmin(u, axis(-1)), reduced_by(m, {1}, test::argmin_of<std::int64_t>)));
    CHECK_ALL(holds(argmax(u, axis(0).keep_dimensions()), reduced_by(m, {0}, first_most)));
    CHECK_ALL(holds(argmax(u, axis(1)), reduced_by(m, {1}, first_most)));
  });
}

TEST_CASE("what is true along each dimension, and how often") {
  auto const m = few_values({7, 11});
  auto const is_any = [](Integers const& x) {
    return std::any_of(x.begin(), x.end(), [](auto v) { return v > 2; });
  };
  auto const is_all = [](Integers const& x) {
    return std::all_of(x.begin(), x.end(), [](auto v) { return v > -2; });
  };
  auto const not_zero = [](Integers const& x) {
    return std::count_if(x.begin(), x.end(), [](auto v) { return v != 0; });
  };
  in_each_layout(m, [&](auto const& u) {
    CHECK_ALL(holds(any(u > 2, axis(0)), reduced_by(m, {0}, is_any)));
    CHECK_ALL(holds(any(u > 2, axis(1)), reduced_by(m, {1}, is_any)));
    CHECK_ALL(holds(tessera::all(u > -2, axis(0)), reduced_by(m, {0}, is_all)));
    CHECK_ALL(holds(tessera::all(u > -2, axis(1)), reduced_by(m, {1}, is_all)));
    CHECK_ALL(holds(count(u, axis(0)), reduced_by(m, {0}, not_zero)));
    CHECK_ALL(holds(count(u, axis(1)), reduced_by(m, {1}, not_zero)));
  });
}

TEST_CASE("means and variances along each dimension have the same bits on any layout") {
  auto m = test::scrambled<double>({7, 11});
  for (auto& x : m.cells) x += 1e7;
  auto const var_1 = [](Doubles const& x) { return test::var_of(x, 1); };
  auto const deviation = [](Doubles const& x) { return std::sqrt(test::var_of(x)); };
  in_each_layout(m, [&](auto const& u) {
    CHECK_ALL(holds(mean(u, axis(0)), reduced_by(m, {0}, test::mean_of)));
    CHECK_ALL(holds(mean(u, axis(1)), reduced_by(m, {1}, test::mean_of)));
    CHECK_ALL(holds(var(u, axis(0), 1), reduced_by(m, {0}, var_1)));
    CHECK_ALL(holds(var(u, axis(1), 1), reduced_by(m, {1}, var_1)));
    CHECK_ALL(holds(stddev(u, axis(1).keep_dimensions()), reduced_by(m, {1}, deviation)));
    CHECK_ALL(test::same_bits(Doubles{var(u, axis(0, 1))}, reduced_by(m, {0, 1}, [](auto const& x) {
                                return test::var_of(x);
                              })));
  });
}

TEST_CASE("products of floats along each dimension") {
  auto const m = test::Mirror<float>::made_of({7, 11}, [](Index const& i) {
    return 1.0F + static_cast<float>(i[0] * 11 + i[1] * 7 - 60) * 0.003F;
  });
  auto const product = [](std::vector<float> const& x) {
    double exact = 1;
    for (float const v : x) exact *= v;
    return static_cast<float>(exact);
  };
  in_each_layout(m, [&](auto const& u) {
    CHECK_ALL(holds(prod(u, axis(0)), reduced_by(m, {0}, product)));
    CHECK_ALL(holds(prod(u, axis(1)), reduced_by(m, {1}, product)));
  });
}

TEST_CASE("NaN along a dimension stays in its cell") {
  auto m = test::scrambled<double>({5, 6});
  m.at({3, 2}) = not_a_number;
  m.at({1, 2}) = not_a_number;
  for (auto const& sharding : {over(1, 1), over(2, 3), over(5, 1), over(8, 1)}) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    auto const low = min(u, axis(0)).to_host();
    auto const total = sum(u, axis(0)).to_host();
    for (std::size_t j = 0; j < 6; ++j) {
      CHECK_ALL(std::isnan(low[j]) == (j == 2));
      CHECK_ALL(std::isnan(total[j]) == (j == 2));
    }
    CHECK_ALL(holds(argmin(u, axis(0)), reduced_by(m, {0}, test::argmin_of<double>)));
  }
}

TEST_CASE("extremes of no terms are an error only where a cell would need one") {
  auto const u = zeros<std::int64_t>({3, 0}, over(2, 4));
  auto const before = counters();
  CHECK_ALL_THROW((void)min(u, axis(1)), ShapeError);
  CHECK_ALL_THROW((void)argmax(u, axis(1)), ShapeError);
  CHECK_ALL(counters() == before);
  CHECK_ALL(holds(max(u, axis(0)), Integers{}));
  CHECK_ALL(holds(argmin(u, axis(0)), Integers{}));
  CHECK_ALL(holds(count(u, axis(1)), Integers{0, 0, 0}));
  auto const means = mean(u, axis(1)).to_host();
  CHECK_ALL(means.size() == 3 && std::isnan(means[0]) && std::isnan(means[2]));
}

TEST_CASE("norms and products along each dimension have the same bits on any layout") {
  auto const m = test::scrambled<double>({7, 11});
  auto const largest = [](Doubles const& x) { return *std::max_element(x.begin(), x.end()); };
  auto squares = m;
  for (auto& x : squares.cells) x *= x;
  auto const root = [](Doubles const& x) { return std::sqrt(test::sum_of(x)); };
  in_each_layout(m, [&](auto const& u) {
    CHECK_ALL(holds(norm(-u, axis(0), 1), reduced_by(m, {0}, test::sum_of)));
    CHECK_ALL(holds(norm(u, axis(1)), reduced_by(squares, {1}, root)));
    CHECK_ALL(holds(norm(u, axis(0).keep_dimensions(), inf), reduced_by(m, {0}, largest)));
    CHECK_ALL(holds(dot(u, u, axis(0)), reduced_by(squares, {0}, test::sum_of)));
    CHECK_ALL(holds(vdot(u, u, axis(-1)), reduced_by(squares, {1}, test::sum_of)));
  });
  CHECK_ALL_THROW((void)norm(in_rows(m), axis(0), 3), UsageError);
  CHECK_ALL_THROW((void)norm(in_rows(m), axis(2)), ShapeError);
  CHECK_ALL_THROW((void)dot(in_rows(m), in_rows(m)(range(0, 3), tessera::all), axis(0)),
                  ShapeError);
}

TEST_CASE("a fast sum along a dimension is near the exact one, and exact for integers") {
  auto const m = test::scrambled<double>({7, 11});
  auto const numbers = few_values({7, 11});
  auto const add = [](Integers const& x) {
    return std::accumulate(x.begin(), x.end(), std::int64_t{0});
  };
  in_each_layout(numbers, [&](auto const& u) {
    CHECK_ALL(holds(sum(u, axis(0), fast), reduced_by(numbers, {0}, add)));
  });
  in_each_layout(m, [&](auto const& u) {
    CHECK_ALL(max(abs(sum(u, axis(1), fast) - sum(u, axis(1)))) < 1e-9);
  });
}

TEST_SUITE_END();
