#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/ops/reductions.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("ops/comparisons");

namespace {

using i64 = std::int64_t;
using u64 = std::uint64_t;

// Numbers at which double, or one of the two types, goes wrong.
std::vector<i64> const with_sign{std::numeric_limits<i64>::min(),
                                 -9007199254740993,
                                 -1,
                                 0,
                                 1,
                                 9007199254740992,
                                 9007199254740993,
                                 std::numeric_limits<i64>::max() - 1,
                                 std::numeric_limits<i64>::max()};
std::vector<u64> const without_sign{0,
                                    1,
                                    9007199254740992U,
                                    9007199254740993U,
                                    u64{1} << 63U,
                                    (u64{1} << 63U) + 1,
                                    std::numeric_limits<u64>::max() - 1,
                                    std::numeric_limits<u64>::max()};

template <class T>
DistArray<T, 1> array_of(std::vector<T> const& cells) {
  return from_host<T, 1>(std::span<T const>(cells), {std::ssize(cells)}, over(3));
}

// What every element of `list` gives, as the list of an array of bools.
template <class T, class F>
std::vector<bool> each(std::vector<T> const& list, F const& compare) {
  std::vector<bool> results;
  for (auto const x : list) results.push_back(compare(x));
  return results;
}

// Compares `array`, which holds `list`, with one number, which may be a Scalar.
template <class T, class Number, class S>
void check_comparisons(DistArray<T, 1> const& array, std::vector<T> const& list,
                       Number const& number, S value) {
  CAPTURE(value);
  CHECK_ALL(
      holds(DistArray(array == number), each(list, [&](T x) { return std::cmp_equal(x, value); })));
  CHECK_ALL(holds(DistArray(array != number),
                  each(list, [&](T x) { return std::cmp_not_equal(x, value); })));
  CHECK_ALL(
      holds(DistArray(array < number), each(list, [&](T x) { return std::cmp_less(x, value); })));
  CHECK_ALL(holds(DistArray(array <= number),
                  each(list, [&](T x) { return std::cmp_less_equal(x, value); })));
  CHECK_ALL(holds(DistArray(array > number),
                  each(list, [&](T x) { return std::cmp_greater(x, value); })));
  CHECK_ALL(holds(DistArray(array >= number),
                  each(list, [&](T x) { return std::cmp_greater_equal(x, value); })));
  CHECK_ALL(
      holds(DistArray(number == array), each(list, [&](T x) { return std::cmp_equal(value, x); })));
  CHECK_ALL(
      holds(DistArray(number < array), each(list, [&](T x) { return std::cmp_less(value, x); })));
  CHECK_ALL(holds(DistArray(number >= array),
                  each(list, [&](T x) { return std::cmp_greater_equal(value, x); })));
}

}  // namespace

TEST_CASE("int64 and uint64 are compared exactly, with arrays, scalars and numbers") {
  auto const i = array_of(with_sign);
  auto const u = array_of(without_sign);
  for (auto const value : without_sign) {
    check_comparisons(i, with_sign, value, value);
    check_comparisons(i, with_sign, max(full<u64>({2}, value, over(3))), value);
    check_comparisons(i, with_sign, full<u64>({1}, value, over(3)), value);
  }
  for (auto const value : with_sign) {
    check_comparisons(u, without_sign, value, value);
    check_comparisons(u, without_sign, max(full<i64>({2}, value, over(3))), value);
    check_comparisons(u, without_sign, full<i64>({1}, value, over(3)), value);
  }
  check_comparisons(u, without_sign, -1, -1);
  CHECK_ALL(bool(max(u) > max(i)));
  CHECK_ALL(!bool(min(u) == min(i)));
}

TEST_CASE("a mask of int64 and uint64 is exact; their minimum and maximum are doubles") {
  auto u = full<u64>({5}, 9007199254740993U, over(3));
  auto const i = full<i64>({5}, 9007199254740992, over(3));
  CHECK_ALL(!all(u == i));
  CHECK_ALL(any(u > i));

  u(u > i) = 7;
  CHECK_ALL(holds(u, std::vector<u64>(5, 7)));
  static_assert(std::is_same_v<typename decltype(minimum(u, i))::value_type, double>);
  CHECK_ALL(holds(DistArray(minimum(u, -1 * i)), std::vector<double>(5, -9007199254740992.0)));
  CHECK_ALL(holds(DistArray(maximum(u, i)), std::vector<double>(5, 9007199254740992.0)));
  CHECK_ALL(holds(DistArray(where(u < i, u, i)), std::vector<double>(5, 7.0)));
}

TEST_SUITE_END();
