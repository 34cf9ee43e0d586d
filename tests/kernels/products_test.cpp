#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/kernels/processors.hpp"
#include "src/kernels/products/product.hpp"

#include "support/brute_force.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::Random;

/// Products by every kind of processor beside plain loops: the bits are equal, for any shape, any
/// strides and any type.
TEST_SUITE_BEGIN("kernels/products");

namespace {

constexpr std::int64_t terms_of_block = 256;

// The value of a cell as product.hpp defines it.
template <class T>
struct Chain {
  T sum{};
  void add(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      sum = std::fma(a, b, sum);
    else
      sum = static_cast<T>(static_cast<std::uint64_t>(sum) +
                           static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
template <class T>
struct Chain<std::complex<T>> {
  T real = 0, imaginary = 0;
  std::complex<T> sum{};
  void add(std::complex<T> a, std::complex<T> b) {
    real = std::fma(-a.imag(), b.imag(), std::fma(a.real(), b.real(), real));
    imaginary = std::fma(a.imag(), b.real(), std::fma(a.real(), b.imag(), imaginary));
    sum = {real, imaginary};
  }
};

// An operand: more cells than are used, and where the first one lies.
template <class T>
struct Cells {
  std::vector<T> memory;
  std::int64_t first = 0;
};

template <class T>
T random_number(Random& random) {
  auto const small = static_cast<double>(random.between(-1000, 1000)) / 64;
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random.between(0, std::numeric_limits<std::int64_t>::max()));
  else if constexpr (requires(T x) { x.real(); })
    return {static_cast<typename T::value_type>(small),
            static_cast<typename T::value_type>(random.between(-1000, 1000)) / 7};
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(static_cast<float>(small));
  else
    return static_cast<T>(small * (random.between(0, 9) == 0 ? 1e-300 : 1.0 / 3));
}

// Gives the dimensions of one operand random strides that keep its cells apart, in any order and
// direction, and room for them.
template <class T>
Cells<T> lay_out(Random& random, std::vector<ProductDimension*> dimensions,
                 std::int64_t ProductDimension::*operand, bool repeats) {
  for (std::size_t i = dimensions.size(); i > 1; --i)
    std::swap(
        dimensions[i - 1],
        dimensions[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  std::int64_t reach = random.between(0, 3) == 0 ? 2 : 1;
  Cells<T> cells;
  for (auto* const dimension : dimensions) {
    auto& stride = dimension->*operand;
    if (repeats && random.between(0, 9) == 0) continue;
    stride = reach;
    reach = reach * std::max<std::int64_t>(dimension->extent, 1) + random.between(0, 1);
    if (random.between(0, 5) == 0) {
      cells.first += stride * (std::max<std::int64_t>(dimension->extent, 1) - 1);
      stride = -stride;
    }
  }
  cells.memory.resize(static_cast<std::size_t>(reach));
  for (auto& cell : cells.memory) cell = random_number<T>(random);
  return cells;
}

std::int64_t random_extent(Random& random, bool is_long) {
  if (!is_long) return random.between(0, 15) == 0 ? 0 : random.between(1, 7);
  constexpr std::int64_t lengths[] = {255, 256, 257, 300, 512, 700};
  return lengths[random.between(0, 5)];
}

// Every cell of some dimensions, as offsets in the operands.
template <class Visit>
void visit(ProductDimensions const& all, ProductDimension const& at, Visit const& f,
           std::size_t d = 0) {
  if (d == all.count) return f(at);
  auto const& dimension = all.dimensions[d];
  for (std::int64_t i = 0; i < dimension.extent; ++i)
    visit(all,
          {1, at.a + i * dimension.a, at.b + i * dimension.b, at.start + i * dimension.start,
           at.c + i * dimension.c},
          f, d + 1);
}

// The plain loop. Sums of 16 bits are made in float.
template <class T, class Sum>
void multiply_by_hand(Product const& product) {
  auto const* const a = static_cast<T const*>(product.a);
  auto const* const b = static_cast<T const*>(product.b);
  auto const* const start = static_cast<T const*>(product.start);
  auto* const c = static_cast<T*>(product.c);
  visit(product.batch, {}, [&](ProductDimension const& batch) {
    visit(product.rows, batch, [&](ProductDimension const& row) {
      visit(product.columns, row, [&](ProductDimension const& cell) {
        Sum total = start == nullptr ? Sum{} : static_cast<Sum>(start[cell.start]);
        Chain<Sum> chain;
        std::int64_t count = 0;
        visit(product.terms, cell, [&](ProductDimension const& term) {
          if (count++ % terms_of_block == 0 && count > 1) {
            total = static_cast<Sum>(total + chain.sum);
            chain = {};
          }
          chain.add(static_cast<Sum>(a[term.a]), static_cast<Sum>(b[term.b]));
        });
        if (count > 0) total = static_cast<Sum>(total + chain.sum);
        c[cell.c] = static_cast<T>(total);
      });
    });
  });
}

ProductDimensions random_dimensions(Random& random, std::int64_t most, std::int64_t& longest) {
  ProductDimensions all;
  for (auto count = random.between(0, most); count > 0; --count) {
    bool const is_long = longest > 0 && random.between(0, 2) == 0;
    longest -= is_long ? 1 : 0;
    all.push_back({random_extent(random, is_long)});
  }
  return all;
}

std::vector<ProductDimension*> together(std::initializer_list<ProductDimensions*> lists) {
  std::vector<ProductDimension*> all;
  for (auto* const list : lists)
    for (std::size_t d = 0; d < list->count; ++d) all.push_back(&list->dimensions[d]);
  return all;
}

template <class T, class Sum = T>
bool run_case(ProductLoops const& loops, ProductType type, std::uint64_t seed) {
  Random random(seed);
  Product product;
  std::int64_t longest = 1;
  product.terms = random_dimensions(random, 2, longest);
  product.rows = random_dimensions(random, 2, longest);
  product.columns = random_dimensions(random, 2, longest);
  product.batch = random_dimensions(random, 1, longest);
  auto const a = lay_out<T>(random, together({&product.batch, &product.rows, &product.terms}),
                            &ProductDimension::a, true);
  auto const b = lay_out<T>(random, together({&product.batch, &product.columns, &product.terms}),
                            &ProductDimension::b, true);
  auto const of_c = together({&product.batch, &product.rows, &product.columns});
  auto const start = lay_out<T>(random, of_c, &ProductDimension::start, true);
  auto wanted = lay_out<T>(random, of_c, &ProductDimension::c, false);
  bool const adds = random.chance();
  product.a = a.memory.data() + a.first;
  product.b = b.memory.data() + b.first;
  if (adds) product.start = start.memory.data() + start.first;
  auto got = wanted;
  product.c = wanted.memory.data() + wanted.first;
  multiply_by_hand<T, Sum>(product);
  product.c = got.memory.data() + got.first;
  multiply_by(loops, type, product);
  return std::memcmp(wanted.memory.data(), got.memory.data(), wanted.memory.size() * sizeof(T)) ==
         0;
}

template <class T, class Sum = T>
void run_cases(ProductType type, std::int64_t count) {
  for (auto const& processor : kernels_of_this_processor()) {
    INFO(std::string(processor.name), ", type ", static_cast<int>(type));
    auto const run = [&](std::uint64_t seed) {
      return run_case<T, Sum>(*processor.products, type, seed);
    };
    CHECK(test::failed_seeds(count, run) == 0);
  }
}

}  // namespace

TEST_CASE("products have the bits of plain loops") {
  run_cases<float>(ProductType::float32, 150);
  run_cases<double>(ProductType::float64, 150);
  run_cases<std::complex<float>>(ProductType::complex64, 80);
  run_cases<std::complex<double>>(ProductType::complex128, 80);
  run_cases<float16, float>(ProductType::float16, 60);
  run_cases<bfloat16, float>(ProductType::bfloat16, 60);
}

TEST_CASE("products of integers are exact modulo a power of two") {
  run_cases<std::uint8_t>(ProductType::bits8, 40);
  run_cases<std::uint16_t>(ProductType::bits16, 40);
  run_cases<std::uint32_t>(ProductType::bits32, 40);
  run_cases<std::uint64_t>(ProductType::bits64, 40);
}

TEST_CASE("panels that exceed a group of rows or of columns") {
  for (auto const& processor : kernels_of_this_processor()) {
    CAPTURE(std::string(processor.name));
    for (bool const is_wide : {false, true}) {
      Product product;
      std::int64_t const m = is_wide ? 7 : 450, n = is_wide ? 5000 : 9, k = 300;
      product.rows.push_back({m, k, 0, 0, n});
      product.columns.push_back({n, 0, 1, 0, 1});
      product.terms.push_back({k, 1, n, 0, 0});
      Random random(5);
      std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
      for (auto* const cells : {&a, &b})
        for (auto& cell : *cells) cell = random_number<float>(random);
      std::vector<float> wanted(static_cast<std::size_t>(m * n)), got(wanted);
      product.a = a.data();
      product.b = b.data();
      product.c = wanted.data();
      multiply_by_hand<float, float>(product);
      product.c = got.data();
      multiply_by(*processor.products, ProductType::float32, product);
      CHECK(std::memcmp(wanted.data(), got.data(), wanted.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("a long product pauses between blocks of terms, whichever loops compute it") {
  for (std::int64_t const columns : {1, 40}) {
    constexpr std::int64_t rows = 300, terms = 3 * block_of_terms;
    Product product;
    product.rows.push_back({rows, terms, 0, 0, columns});
    product.columns.push_back({columns, 0, 1, 0, 1});
    product.terms.push_back({terms, 1, columns, 0, 0});
    std::vector<double> const a(rows * terms, 1.0),
        b(static_cast<std::size_t>(columns * terms), 2.0);
    std::vector<double> c(static_cast<std::size_t>(rows * columns));
    product.a = a.data();
    product.b = b.data();
    product.c = c.data();
    int pauses = 0;
    product.pause = {[](void* count) { ++*static_cast<int*>(count); }, &pauses};
    multiply(ProductType::float64, product);
    CHECK(pauses >= 3);
    CHECK(c.back() == 2.0 * terms);
  }
}

TEST_CASE("a sum of nothing is the start") {
  Product product;
  product.rows.push_back({2, 0, 0, 0, 1});
  product.terms.push_back({0, 1, 1, 0, 0});
  double c[2] = {7, 7};
  double const start = 3;
  product.c = c;
  multiply(ProductType::float64, product);
  CHECK(c[1] == 0);
  product.start = &start;
  multiply(ProductType::float64, product);
  CHECK(c[0] == 3);
}

TEST_SUITE_END();
