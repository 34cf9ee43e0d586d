#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/field.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using detail::Function;
using detail::Function2;
using detail::value_of;
using test::holds;
using test::Mirror;
using test::over;
using test::scrambled;
using test::spread_out;

/// Functions of arrays: each cell has the value that its argument has alone.
TEST_SUITE_BEGIN("expr/functions");

namespace {

/// The mirror of f applied to each cell.
template <class T, class F>
auto of_each(Mirror<T> const& m, F const& f) {
  using R = decltype(f(T()));
  std::vector<R> cells;
  for (auto const x : m.cells) cells.push_back(f(x));
  return cells;
}

/// Arguments in [0, 1], where all functions have values.
template <class T>
Mirror<T> fractions(Shape const& shape) {
  auto result = scrambled<T>(shape);
  for (auto& x : result.cells) x /= T{101};
  return result;
}

template <class T>
void check_all_functions(std::int64_t cells, NamedSharding const& sharding) {
  auto const m = fractions<T>({cells});
  auto const u = spread_out<T, 1>(m, sharding);
  CAPTURE(cells);
#define CHECK_FUNCTION(name) \
  CHECK_ALL(holds(DistArray(name(u)), of_each(m, [](T x) { return value_of<Function::name>(x); })))
  CHECK_FUNCTION(exp);
  CHECK_FUNCTION(exp2);
  CHECK_FUNCTION(expm1);
  CHECK_FUNCTION(log);
  CHECK_FUNCTION(log2);
  CHECK_FUNCTION(log10);
  CHECK_FUNCTION(log1p);
  CHECK_FUNCTION(sin);
  CHECK_FUNCTION(cos);
  CHECK_FUNCTION(tan);
  CHECK_FUNCTION(asin);
  CHECK_FUNCTION(acos);
  CHECK_FUNCTION(atan);
  CHECK_FUNCTION(sinh);
  CHECK_FUNCTION(cosh);
  CHECK_FUNCTION(tanh);
  CHECK_FUNCTION(cbrt);
  CHECK_FUNCTION(erf);
  CHECK_FUNCTION(erfc);
  CHECK_FUNCTION(tgamma);
  CHECK_FUNCTION(lgamma);
#undef CHECK_FUNCTION
  auto const half = [](T x) { return x * T{0.5} - T{0.125}; };
  CHECK_ALL(holds(DistArray(pow(u, 0.5 * u - 0.125)),
                  of_each(m, [&](T x) { return value_of<Function2::pow>(x, half(x)); })));
  CHECK_ALL(holds(DistArray(atan2(u, 0.5 * u - 0.125)),
                  of_each(m, [&](T x) { return value_of<Function2::atan2>(x, half(x)); })));
  CHECK_ALL(holds(DistArray(hypot(0.5 * u - 0.125, u)),
                  of_each(m, [&](T x) { return value_of<Function2::hypot>(half(x), x); })));
}

double exponential(double x) {
  return value_of<Function::exp>(x);
}
double sine(double x) {
  return value_of<Function::sin>(x);
}

struct Reading {
  double value;
  std::int32_t station;
  friend bool operator==(Reading const&, Reading const&) = default;
};

}  // namespace

TEST_CASE("each cell has the value that its argument has alone") {
  for (std::int64_t const cells : {0, 1, 7, 40, 531})
    for (std::int64_t const devices : {1, 3, 8}) {
      check_all_functions<double>(cells, over(devices));
      check_all_functions<float>(cells, over(devices));
    }
}

TEST_CASE("values are near those of the standard library") {
  auto const m = fractions<double>({100});
  auto const u = spread_out<double, 1>(m, over(3));
  auto const near = [&](auto const& values, double (*f)(double)) {
    auto const found = DistArray(values).to_host();
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const wanted = f(m.cells[i]);
      if (std::fabs(found[i] - wanted) > 4e-16 * std::fabs(wanted) &&
          !(std::isinf(found[i]) && found[i] == wanted))
        return false;
    }
    return true;
  };
#define CHECK_NEAR(name) CHECK_ALL(near(name(u), [](double x) { return std::name(x); }))
  CHECK_NEAR(exp);
  CHECK_NEAR(exp2);
  CHECK_NEAR(expm1);
  CHECK_NEAR(log);
  CHECK_NEAR(log2);
  CHECK_NEAR(log10);
  CHECK_NEAR(log1p);
  CHECK_NEAR(sin);
  CHECK_NEAR(cos);
  CHECK_NEAR(tan);
  CHECK_NEAR(asin);
  CHECK_NEAR(acos);
  CHECK_NEAR(atan);
  CHECK_NEAR(sinh);
  CHECK_NEAR(cosh);
  CHECK_NEAR(tanh);
  CHECK_NEAR(cbrt);
  CHECK_NEAR(erf);
  CHECK_NEAR(erfc);
#undef CHECK_NEAR
}

TEST_CASE("integers become double, halves are computed as float") {
  auto const n = iota<std::int32_t>({5}, over(2));
  static_assert(std::same_as<decltype(exp2(n))::value_type, double>);
  CHECK_ALL(holds(DistArray(exp2(n)), {1, 2, 4, 8, 16}));

  std::vector<float16> const cells{float16(0), float16(0.5F), float16(2)};
  auto const h = from_host<float16, 1>(std::span(cells), {3}, over(2));
  static_assert(std::same_as<decltype(exp(h))::value_type, float16>);
  std::vector<float16> wanted;
  for (auto const x : cells)
    wanted.push_back(float16(value_of<Function::exp>(static_cast<float>(x))));
  CHECK_ALL(holds(DistArray(exp(h)), wanted));
}

TEST_CASE("functions within functions, beside operators, conditions and neighbours") {
  auto const m = fractions<double>({700});
  auto const u = spread_out<double, 1>(m, over(3));

  CHECK_ALL(holds(DistArray(exp(sin(u) - 1.0) * u + exp(u)), of_each(m, [](double x) {
                    return exponential(sine(x) - 1.0) * x + exponential(x);
                  })));
  CHECK_ALL(holds(DistArray(where(sin(u) > 0.5, exp(-u), u)),
                  of_each(m, [](double x) { return sine(x) > 0.5 ? exponential(-x) : x; })));
  CHECK_ALL(holds(DistArray(-exp(u)), of_each(m, [](double x) { return -exponential(x); })));

  std::vector<double> shifted;
  for (std::size_t i = 0; i < m.cells.size(); ++i)
    shifted.push_back(exponential(m.cells[i == 0 ? 699 : i - 1]) + m.cells[i]);
  CHECK_ALL(holds(DistArray(exp(shift(u, -1, periodic)) + u), shifted));
}

TEST_CASE("in place, into slices with steps, masks and other types") {
  auto const m = fractions<double>({600});
  auto u = spread_out<double, 1>(m, over(4));
  u = exp(u);
  CHECK_ALL(holds(u, of_each(m, exponential)));

  auto v = spread_out<double, 1>(m, over(3));
  v(range(1, none, 2)) = exp(v(range(1, none, 2)));
  auto wanted = m.cells;
  for (std::size_t i = 1; i < wanted.size(); i += 2) wanted[i] = exponential(wanted[i]);
  CHECK_ALL(holds(v, wanted));

  auto w = spread_out<double, 1>(m, over(3));
  w(w > 0.5) = sin(w);
  CHECK_ALL(holds(w, of_each(m, [](double x) { return x > 0.5 ? sine(x) : x; })));

  auto f = zeros<float>({600}, over(2));
  f = exp(spread_out<double, 1>(m, over(2)));
  CHECK_ALL(holds(f, of_each(m, [](double x) { return static_cast<float>(exponential(x)); })));
}

TEST_CASE("members of structs") {
  std::vector<Reading> cells;
  for (int i = 0; i < 300; ++i) cells.push_back({0.01 * i, i});
  auto u = from_host<Reading, 1>(std::span<Reading const>(cells), {300}, over(3));

  field<&Reading::value>(u) = exp(field<&Reading::value>(u));

  for (auto& cell : cells) cell.value = exponential(cell.value);
  CHECK_ALL(u.to_host() == cells);
}

TEST_CASE("planes, transposed and by row and column") {
  auto const m = fractions<double>({19, 301});
  auto const u = spread_out<double, 2>(m, over(2, 4));
  CHECK_ALL(holds(DistArray(exp(u)), of_each(m, exponential)));
  CHECK_ALL(holds(DistArray(exp(transpose(u))), of_each(test::transposed(m, {1, 0}), exponential)));
  auto const t = spread_out<double, 2>(test::transposed(m, {1, 0}), over(2, 4));
  auto v = zeros<double>({19, 301}, over(2, 4));
  v = u + exp(transpose(t));
  CHECK_ALL(holds(v, of_each(m, [](double x) { return x + exponential(x); })));
}

TEST_SUITE_END();
