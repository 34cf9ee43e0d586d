#include "tessera/array/contract.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/field.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"
#include "support/seeds.hpp"
#include "support/trees.hpp"

using namespace tessera;
using test::combined;
using test::holds;
using test::Mirror;
using test::over;
using test::spread_out;

/// Products fused into the sums above them.
TEST_SUITE_BEGIN("expr/contract");

namespace {

/// Numbers with all their digits, so that hardly a product is exact.
template <class T>
Mirror<T> digits(Shape const& shape, std::uint64_t salt) {
  std::uint64_t cell = 0;
  auto const next = [&] {
    auto const bits = detail::mix(salt, ++cell) >> 11U;
    return static_cast<double>(bits) * 0x1p-52 - 1;
  };
  return Mirror<T>::made_of(shape, [&](Index const&) {
    if constexpr (detail::is_complex<T>)
      return T(static_cast<detail::real_of<T>>(next()), static_cast<detail::real_of<T>>(next()));
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(next() * 1e9);
    else
      return static_cast<T>(next());
  });
}

template <class E>
constexpr bool is_unchanged(E const& e) {
  return std::is_same_v<decltype(contract(e)), E>;
}

/// The random expressions from number `first` on against their trees, cell by cell. They are of the
/// same kind in every run; their cells are those of a seed.
template <class T, std::uint64_t first, std::size_t... k>
void check_trees(NamedSharding const& sharding, std::uint64_t seed, std::index_sequence<k...>) {
  Shape const shape{9, 37};
  std::array<Mirror<T>, 3> const m{digits<T>(shape, 3 * seed), digits<T>(shape, 3 * seed + 1),
                                   digits<T>(shape, 3 * seed + 2)};
  std::array<DistArray<T, 2>, 3> const u{spread_out<T, 2>(m[0], sharding),
                                         spread_out<T, 2>(m[1], sharding),
                                         spread_out<T, 2>(m[2], sharding)};
  auto const check = [&]<std::uint64_t number>() {
    CAPTURE(number);
    auto const tree = test::Tree::random(number);
    auto const wanted = combined<T>(
        shape,
        [&](T a, T b, T c) {
          return test::fused_value<T>(tree, {a, b, c});
        },
        m[0], m[1], m[2]);
    CHECK_ALL(holds(DistArray(contract(test::expression_of<number>(u))), wanted));
  };
  (check.template operator()<first + k>(), ...);
}

template <class T, std::uint64_t first>
void check_trees() {
  auto const run = [](std::uint64_t seed) {
    for (auto const& sharding : {over(1, 1), over(3, 2), over(8, 1), over(1, 8)}) {
      CAPTURE(sharding);
      check_trees<T, first>(sharding, seed, std::make_index_sequence<8>());
    }
    return true;
  };
  CHECK(test::failed_seeds(1, run) == 0);
}

}  // namespace

TEST_CASE("random trees of doubles have the bits of their fused steps") {
  check_trees<double, 1>();
  check_trees<double, 9>();
}
TEST_CASE("random trees of floats have the bits of their fused steps") {
  check_trees<float, 21>();
}
TEST_CASE("random trees of 16-bit floats are fused as float and rounded once") {
  check_trees<float16, 31>();
  check_trees<bfloat16, 41>();
}
TEST_CASE("random trees of complex numbers are fused part by part") {
  check_trees<std::complex<double>, 51>();
}
TEST_CASE("random trees of integers keep their values") {
  check_trees<std::int32_t, 61>();
}

TEST_CASE("each form of sum has its fused step") {
  auto const p = 1 + 0x1p-30;  // p * p is 1 + 2^-29 + 2^-60, whose last part is rounded away
  std::vector const cells{p};
  auto const u = from_host<double, 1>(std::span<double const>(cells), {1}, over(1));

  auto const rest = 0x1p-60;
  auto const product = 1 + 0x1p-29;
  CHECK_ALL(holds(DistArray(contract(u * u - product)), std::vector{rest}));
  CHECK_ALL(holds(DistArray(contract(-product + u * u)), std::vector{rest}));
  CHECK_ALL(holds(DistArray(contract(product - u * u)), std::vector{-rest}));
  CHECK_ALL(holds(DistArray(contract(-(u * u) + product)), std::vector{-rest}));
  CHECK_ALL(holds(DistArray(contract(u * u - u * u)), std::vector{rest}));
  CHECK_ALL(holds(DistArray(contract(product - -(-(u * u)))), std::vector{-rest}));
  CHECK_ALL(holds(DistArray(u * u - product), std::vector{0.0}));
}

TEST_CASE("contract reaches into functions, where, masks and slices, and not above itself") {
  auto const p = 1 + 0x1p-30;
  auto const product = 1 + 0x1p-29;
  auto const u = full<double>({9}, p, over(3));
  auto const zeros_of = [&](auto const& e) {
    return holds(DistArray(e), std::vector<double>(9, 0.0));
  };
  auto const rests = std::vector<double>(9, 0x1p-60);

  auto const rest = u * u - product;
  CHECK_ALL(holds(DistArray(contract(abs(-rest))), rests));
  CHECK_ALL(holds(DistArray(contract(where(rest > 0.0, rest, 1.0))), rests));
  CHECK_ALL(holds(DistArray(contract(where(u > 2.0, 1.0, abs(rest)))), rests));
  CHECK_ALL(holds(DistArray(contract(sqrt(rest))), std::vector<double>(9, 0x1p-30)));
  CHECK_ALL(holds(DistArray(contract(rest)(range(none, none, -1))), rests));
  CHECK_ALL(holds(DistArray(roll(contract(rest), 2)), rests));
  CHECK_ALL(holds(DistArray(contract(roll(rest, 2))), rests));
  CHECK_ALL(holds(DistArray(shift(contract(rest), 4, periodic)), rests));
  CHECK_ALL(holds(DistArray(contract(contract(u * u) - product)), rests));
  CHECK_ALL(zeros_of(contract(u * u) - product));

  auto v = full<double>({9}, -product, over(3));
  v += contract(u * u);
  CHECK_ALL(zeros_of(v));
  v(u > 0.0) = contract(rest);
  CHECK_ALL(holds(v, rests));
}

TEST_CASE("a product of another type than the sum is rounded first") {
  auto const p = 1 + 0x1p-20F;
  auto const u = full<float>({5}, p, over(2));
  auto const d = full<double>({5}, -1.0, over(2));

  CHECK_ALL(holds(DistArray(contract(u * u + d)), std::vector<double>(5, 0x1p-19)));
  CHECK_ALL(holds(DistArray(contract(cast<float>(u * u) - 1.0F)), std::vector<float>(5, 0x1p-19F)));
}

TEST_CASE("contract changes nothing twice, and nothing that is not rounded") {
  auto const u = full<double>({4}, 0.1, over(2));
  auto const n = full<int>({4}, 3, over(2));
  auto const once = contract(u * u + u * (u - u * u));

  CHECK(is_unchanged(once));
  CHECK(is_unchanged(n * n + n));
  CHECK(is_unchanged(u + u));
  CHECK(is_unchanged(u * u * u / u));
  CHECK_ALL(holds(DistArray(contract(u)), std::vector<double>(4, 0.1)));
  CHECK_ALL(
      holds(DistArray(contract(2 * index(0) + 1 + n)), std::vector<std::int64_t>{4, 6, 8, 10}));
}

TEST_CASE("single values are fused as cells are") {
  auto const p = 1 + 0x1p-30;
  auto const u = full<double>({4}, p, over(2));
  double const rest = contract(u(1) * u(2) - (1 + 0x1p-29));

  CHECK(rest == 0x1p-60);
}

TEST_CASE("a member of structs can take part") {
  struct Point {
    double x;
    double y;
  };
  auto const p = 1 + 0x1p-30;
  auto points = full<Point>({6}, Point{p, -1 - 0x1p-29}, over(3));

  CHECK_ALL(holds(DistArray(contract(field<&Point::x>(points) * p + field<&Point::y>(points))),
                  std::vector<double>(6, 0x1p-60)));
  field<&Point::y>(points) = contract(field<&Point::x>(points) * p - (1 + 0x1p-29));
  CHECK_ALL(holds(DistArray(field<&Point::y>(points)), std::vector<double>(6, 0x1p-60)));
}

TEST_SUITE_END();
