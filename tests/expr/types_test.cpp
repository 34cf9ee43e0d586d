#include <cmath>
#include <limits>
#include <type_traits>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Types and values of operations, as NumPy 2 has them.
TEST_SUITE_BEGIN("expr/types");

namespace {

template <class T>
using Array = DistArray<T, 1>;
template <class E>
using type_of = typename E::value_type;

#define CHECK_TYPE(A, op, B, C) \
  static_assert(std::is_same_v< \
                type_of<decltype(Array<A>(Shape{1}, over(1)) op Array<B>(Shape{1}, over(1)))>, C>)
#define CHECK_TYPE_WITH(A, op, number, C) \
  static_assert(std::is_same_v<type_of<decltype(Array<A>(Shape{1}, over(1)) op number)>, C>)

using f32 = float;
using f64 = double;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

CHECK_TYPE(f32, +, f32, f32);
CHECK_TYPE(f32, +, f64, f64);
CHECK_TYPE(i32, +, i64, i64);
CHECK_TYPE(i32, +, f32, f64);
CHECK_TYPE(i64, *, f32, f64);
CHECK_TYPE(i16, *, f32, f32);
CHECK_TYPE(u16, *, f32, f32);
CHECK_TYPE(u8, -, f32, f32);
CHECK_TYPE(u8, +, i32, i32);
CHECK_TYPE(u8, +, i8, i16);
CHECK_TYPE(u32, +, i32, i64);
CHECK_TYPE(u32, +, i64, i64);
CHECK_TYPE(u64, +, i64, f64);
CHECK_TYPE(u64, +, u8, u64);
CHECK_TYPE(bool, +, u8, u8);
CHECK_TYPE(bool, +, bool, bool);
CHECK_TYPE(bool, *, f32, f32);
CHECK_TYPE(bool, &, bool, bool);
CHECK_TYPE(i32, /, i32, f64);
CHECK_TYPE(u8, /, u8, f64);
CHECK_TYPE(f32, /, f32, f32);
CHECK_TYPE(f32, /, u8, f32);
CHECK_TYPE(i32, %, i64, i64);
CHECK_TYPE(i32, <, f64, bool);
CHECK_TYPE(f64, &&, i32, bool);
CHECK_TYPE(i32, |, u8, i32);

CHECK_TYPE_WITH(f32, *, 0.5, f32);
CHECK_TYPE_WITH(f32, +, 1, f32);
CHECK_TYPE_WITH(i32, +, 1, i32);
CHECK_TYPE_WITH(u8, +, 1, u8);
CHECK_TYPE_WITH(i32, +, 1.5, f64);
CHECK_TYPE_WITH(u8, *, 1.5F, f64);
CHECK_TYPE_WITH(i32, /, 2, f64);
CHECK_TYPE_WITH(f32, /, 2, f32);
CHECK_TYPE_WITH(bool, +, 1, i64);
CHECK_TYPE_WITH(bool, *, 1.5, f64);
CHECK_TYPE_WITH(i32, +, true, i32);
CHECK_TYPE_WITH(f64, ==, 1, bool);

template <class T>
Array<T> made_of(std::vector<T> const& cells) {
  return from_host<T, 1>(std::span<T const>(cells), {std::ssize(cells)}, over(3));
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("integers wrap around") {
  auto const i = made_of<i32>({2147483647, -2147483647 - 1, 65536});
  auto const b = made_of<u8>({250, 5, 0});

  CHECK_ALL(holds(DistArray(i + 1), std::vector<i32>{-2147483647 - 1, -2147483647, 65537}));
  CHECK_ALL(holds(DistArray(i * i), std::vector<i32>{1, 0, 0}));
  CHECK_ALL(holds(DistArray(-i), std::vector<i32>{-2147483647, -2147483647 - 1, -65536}));
  CHECK_ALL(holds(DistArray(b + 10), std::vector<u8>{4, 15, 10}));
  CHECK_ALL(holds(DistArray(b - 6), std::vector<u8>{244, 255, 250}));
  CHECK_ALL(holds(DistArray(-b), std::vector<u8>{6, 251, 0}));
}

TEST_CASE("division is true and the remainder has the divisor's sign") {
  auto const a = made_of<i64>({7, -7, 7, -7, 5});
  auto const b = made_of<i64>({3, 3, -3, -3, 0});
  auto const x = made_of<f64>({7.5, -7.5, 7.5, 6.0, -5.0, 1.0});
  auto const y = made_of<f64>({2.0, 2.0, -2.0, -2.0, infinity, 0.0});

  CHECK_ALL(holds(DistArray(a / 2), std::vector<f64>{3.5, -3.5, 3.5, -3.5, 2.5}));
  CHECK_ALL(holds(DistArray(a % b), std::vector<i64>{1, 2, -2, -1, 0}));
  auto const rest = DistArray(x % y).to_host();
  CHECK_ALL(test::same_bits({rest.begin(), rest.begin() + 5},
                            std::vector<f64>{1.5, 0.5, -0.5, -0.0, infinity}));
  CHECK_ALL(std::isnan(rest[5]));
}

TEST_CASE("comparisons make bools, and NaN equals nothing") {
  auto const x = made_of<f64>({1.0, not_a_number, 2.0, -0.0});
  using Bools = std::vector<bool>;

  CHECK_ALL(holds(DistArray(x == x), Bools{1, 0, 1, 1}));
  CHECK_ALL(holds(DistArray(x != 2), Bools{1, 1, 0, 1}));
  CHECK_ALL(holds(DistArray(x < 2 && x >= 0.0), Bools{1, 0, 0, 1}));
  CHECK_ALL(holds(DistArray(!(x > 1) || x == 2.0), Bools{1, 1, 1, 1}));
}

TEST_CASE("bools add as or and multiply as and") {
  auto const a = made_of<u8>({1, 1, 0, 0}) != 0;
  auto const b = made_of<u8>({1, 0, 1, 0}) != 0;
  using Bools = std::vector<bool>;

  CHECK_ALL(holds(DistArray(a + b), Bools{1, 1, 1, 0}));
  CHECK_ALL(holds(DistArray(a * b), Bools{1, 0, 0, 0}));
  CHECK_ALL(holds(DistArray(a ^ b), Bools{0, 1, 1, 0}));
  CHECK_ALL(holds(DistArray(a + 1), std::vector<i64>{2, 2, 1, 1}));
}

TEST_CASE("bits are shifted in the common type, and bools as int8") {
  auto u = iota<std::int16_t>({5}, over(3));
  auto const narrow = iota<std::int8_t>({5}, over(3));
  auto const wide = iota<std::int64_t>({5}, over(3));
  auto const bools = DistArray(narrow > 2);

  static_assert(std::same_as<decltype(u << narrow)::value_type, std::int16_t>);
  static_assert(std::same_as<decltype(narrow >> wide)::value_type, std::int64_t>);
  static_assert(std::same_as<decltype(narrow << 1)::value_type, std::int8_t>);
  static_assert(std::same_as<decltype(1 << narrow)::value_type, std::int8_t>);
  static_assert(std::same_as<decltype(bools << bools)::value_type, std::int8_t>);
  static_assert(std::same_as<decltype(bools << 2)::value_type, std::int64_t>);
  static_assert(std::same_as<decltype(~bools)::value_type, bool>);
  CHECK_ALL(holds(DistArray(~bools), std::vector<bool>{true, true, true, false, false}));
  CHECK_ALL(holds(DistArray(~u), std::vector<std::int16_t>{-1, -2, -3, -4, -5}));
  CHECK_ALL(holds(DistArray(2 << wide), std::vector<std::int64_t>{2, 4, 8, 16, 32}));
  CHECK_ALL(holds(DistArray(bools << bools), std::vector<std::int8_t>{0, 0, 0, 2, 2}));
  CHECK_ALL_THROW((void)(u << 40'000), UsageError);

  u <<= 3;
  CHECK_ALL(holds(u, std::vector<std::int16_t>{0, 8, 16, 24, 32}));
  u(u > 10) >>= 2;
  u(range(0, 2)) <<= narrow(range(3, none));
  CHECK_ALL(holds(u, std::vector<std::int16_t>{0, 128, 4, 6, 8}));
  u >>= -1;  // a count below 0 is beyond every width
  CHECK_ALL(holds(u, std::vector<std::int16_t>{0, 0, 0, 0, 0}));
}

TEST_CASE("where picks by cell, with NumPy's types") {
  auto const i = made_of<i32>({1, -2, 3});
  auto const f = made_of<f32>({0.5F, 1.5F, 2.5F});
  static_assert(std::is_same_v<type_of<decltype(where(i > 0, i, f))>, f64>);
  static_assert(std::is_same_v<type_of<decltype(where(i > 0, f, 0.1))>, f32>);
  static_assert(std::is_same_v<type_of<decltype(where(i > 0, 1, 2))>, i64>);

  CHECK_ALL(holds(DistArray(where(i > 0, i, f)), std::vector<f64>{1, 1.5, 3}));
  CHECK_ALL(holds(DistArray(where(i > 0, f, 0.1)), std::vector<f32>{0.5F, 0.1F, 2.5F}));
  CHECK_ALL(holds(DistArray(where(i > 0, 1.5, 2)), std::vector<f64>{1.5, 2, 1.5}));
  CHECK_ALL(holds(DistArray(where(f > 1, f(range(0, 1)), i)), std::vector<f64>{1, 0.5, 0.5}));
}

TEST_CASE("cast and assignment convert as C++ does") {
  auto const x = made_of<f64>({2.7, -2.7, 0.0, 300.0});
  auto i = zeros<i32>({4}, over(2));
  auto b = zeros<bool>({4}, over(8));

  i = x;
  b = x;

  CHECK_ALL(holds(i, std::vector<i32>{2, -2, 0, 300}));
  CHECK_ALL(holds(b, std::vector<bool>{1, 1, 0, 1}));
  CHECK_ALL(holds(DistArray(cast<f32>(x)), std::vector<f32>{2.7F, -2.7F, 0, 300}));
  CHECK_ALL(holds(DistArray(cast<i64>(x) / 2), std::vector<f64>{1, -1, 0, 150}));
  i = 9.99;
  CHECK_ALL(holds(i, std::vector<i32>(4, 9)));
}

TEST_CASE("index is the coordinate of the statement's cell") {
  auto u = zeros<i64>({3, 4}, over(2, 4));

  u = 10 * index(0) + index(1);
  CHECK_ALL(holds(u, std::vector<i64>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));

  u(from(1), range(1, 3)) = 100 * index(0) + index(1);
  CHECK_ALL(holds(u, std::vector<i64>{0, 1, 2, 3, 10, 0, 1, 13, 20, 100, 101, 23}));

  u(tessera::all, 0) = index(0) * 5;
  CHECK_ALL(holds(u, std::vector<i64>{0, 1, 2, 3, 5, 0, 1, 13, 10, 100, 101, 23}));
}

TEST_CASE("functions of one argument keep floating types and make others double" *
          test::not_on_cuda()) {
  auto const i = made_of<i32>({4, 9, -16});
  auto const f = made_of<f32>({0.25F, 2.0F, -1.5F});
  static_assert(std::is_same_v<type_of<decltype(sqrt(i))>, f64>);
  static_assert(std::is_same_v<type_of<decltype(exp(f))>, f32>);
  static_assert(std::is_same_v<type_of<decltype(abs(i))>, i32>);

  CHECK_ALL(holds(DistArray(sqrt(i(range(0, 2)))), std::vector<f64>{2, 3}));
  CHECK_ALL(holds(DistArray(abs(i)), std::vector<i32>{4, 9, 16}));
  CHECK_ALL(
      holds(DistArray(exp(f)), std::vector<f32>{std::exp(0.25F), std::exp(2.0F), std::exp(-1.5F)}));
  CHECK_ALL(holds(DistArray(floor(f) + ceil(f)), std::vector<f32>{1, 4, -3}));
  CHECK_ALL(holds(DistArray(minimum(f, 0.5)), std::vector<f32>{0.25F, 0.5F, -1.5F}));
  CHECK_ALL(holds(DistArray(maximum(i, f)), std::vector<f64>{4, 9, -1.5}));
}

TEST_CASE("minimum and maximum of NaN are NaN, from either side") {
  auto const x = made_of<f64>({not_a_number, 1.0, -0.0});
  auto const y = made_of<f64>({1.0, not_a_number, 0.0});

  auto const low = DistArray(minimum(x, y)).to_host();
  auto const high = DistArray(maximum(x, y)).to_host();

  CHECK_ALL(std::isnan(low[0]) && std::isnan(low[1]) && low[2] == 0.0);
  CHECK_ALL(std::isnan(high[0]) && std::isnan(high[1]) && high[2] == 0.0);
}

TEST_SUITE_END();
