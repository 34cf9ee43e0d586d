#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "src/ops/detail.hpp"
#include "src/runtime/engine.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("ops/wide_product");

namespace {

__extension__ using Quad = __float128;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

static_assert(std::is_trivially_copyable_v<WideProduct>);

double product_of(std::vector<double> const& factors) {
  WideProduct product;
  product.multiply(factors);
  return product.value();
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_CASE("small products are exact") {
  CHECK(same(product_of({}), 1.0));
  CHECK(same(product_of({2, 3, -7}), -42.0));
  CHECK(same(product_of({0.1}), 0.1));
  CHECK(same(product_of({0.1, 10}), 0.1 * 10));
  CHECK(same(product_of({9007199254740991.0, 0.5, 2}), 9007199254740991.0));
  CHECK(same(product_of({largest}), largest));
  CHECK(same(product_of({smallest, -1}), -smallest));
}

TEST_CASE("only the whole product over- or underflows") {
  CHECK(same(product_of({0x1p1000, 0.1, 0x1p1000, 0x1p-1000}), std::ldexp(0.1, 1000)));
  CHECK(same(product_of({0x1p-1000, 0x1p-1000, 3, 0x1p1000, 0x1p1000}), 3.0));
  CHECK(same(product_of({largest, 2}), infinity));
  CHECK(same(product_of({largest, -largest, 3}), -infinity));
  CHECK(same(product_of({smallest, 0.5}), 0.0));
  CHECK(same(product_of({smallest, -0.25}), -0.0));
  CHECK(same(product_of({smallest, 0.75}), smallest));
  CHECK(same(product_of({smallest, 3, 0x1p100, 0x1p-100}), 3 * smallest));
  CHECK(same(product_of(std::vector<double>(5000, 1e300)), infinity));
}

TEST_CASE("zeros, infinities and NaN") {
  CHECK(same(product_of({0.0, 5}), 0.0));
  CHECK(same(product_of({0.0, -5}), -0.0));
  CHECK(same(product_of({-0.0, -5, 1e300, 1e300}), 0.0));
  CHECK(same(product_of({infinity, -1e-300, 1e-300}), -infinity));
  CHECK(std::isnan(product_of({infinity, 1, 0.0})));
  CHECK(std::isnan(product_of({1, not_a_number, 0.0})));
}

TEST_CASE("results below the normal numbers are rounded once") {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> mantissa(1, 2);
  for (int i = 0; i < 2000; ++i) {
    double const a = mantissa(engine);
    double const b = std::ldexp(mantissa(engine), -1030 - i % 40);
    REQUIRE(same(product_of({a, b}), a * b));
  }
}

TEST_CASE("products are correctly rounded, in any order and split in any way") {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> mantissa(0.6, 1.7);
  for (int run = 0; run < 300; ++run) {
    std::vector<double> factors(1 + engine() % 60);
    for (auto& x : factors) x = mantissa(engine) * (engine() % 3 == 0 ? -1 : 1);
    auto const value = product_of(factors);
    Quad exact = 1;
    for (double const x : factors) exact *= x;
    REQUIRE(same(value, static_cast<double>(exact)));

    for (auto& x : factors) x = std::ldexp(x, static_cast<int>(engine() % 41) - 20);
    auto const in_order = product_of(factors);
    std::shuffle(factors.begin(), factors.end(), engine);
    auto const middle = engine() % (factors.size() + 1);
    WideProduct first;
    WideProduct second;
    first.multiply(std::span(factors).first(middle));
    second.multiply(std::span(factors).subspan(middle));
    second.merge(first);
    REQUIRE(same(second.value(), in_order));
  }
}

TEST_SUITE_END();
