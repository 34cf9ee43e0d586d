#include <cmath>
#include <complex>
#include <sstream>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/print.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Complex elements, as NumPy has them.
TEST_SUITE_BEGIN("expr/complex");

namespace {

using c64 = std::complex<float>;
using c128 = std::complex<double>;
using Complexes = std::vector<c128>;
using Doubles = std::vector<double>;

template <class T>
DistArray<T, 1> made_of(std::vector<T> const& cells, std::int64_t devices = 3) {
  return from_host<T, 1>(std::span<T const>(cells), {std::ssize(cells)}, over(devices));
}

template <class E>
using type_of = typename E::value_type;

c128 const i{0, 1};
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("operators, by hand") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto const u = made_of<c128>({1.0 + 2.0 * i, -3.0, 0.5 * i, 0.0}, devices);
    auto const v = made_of<c128>({2.0 - 1.0 * i, 4.0 * i, 1.0 + i, 8.0}, devices);

    CHECK_ALL(holds(DistArray(u + v), Complexes{3.0 + i, -3.0 + 4.0 * i, 1.0 + 1.5 * i, 8.0}));
    CHECK_ALL(holds(DistArray(u - v), Complexes{{-1, 3}, {-3, -4}, {-1, -0.5}, {-8, 0}}));
    CHECK_ALL(holds(DistArray(u * v), Complexes{{4, 3}, {-0.0, -12}, {-0.5, 0.5}, {0, 0}}));
    CHECK_ALL(holds(DistArray(u(range(0, 3)) / v(range(0, 3))),
                    Complexes{{0, 1}, {0, 0.75}, {0.25, 0.25}}));
    CHECK_ALL(holds(DistArray(-u), Complexes{{-1, -2}, {3, -0.0}, {-0.0, -0.5}, {-0.0, -0.0}}));
    CHECK_ALL(holds(DistArray(u == 0.5 * i), std::vector<bool>{0, 0, 1, 0}));
    CHECK_ALL(holds(DistArray(u != v), std::vector<bool>{1, 1, 1, 1}));
    CHECK_ALL(holds(DistArray(!(u && v)), std::vector<bool>{0, 0, 0, 1}));
  }
}

TEST_CASE("parts, conjugates, magnitudes and angles are of the type of the parts" *
          test::not_on_cuda()) {
  auto const u = made_of<c64>({{3, -4}, {0, 2}, {-1, 0}});
  auto const x = made_of<double>({-2, 0.5, 0});
  auto const n = made_of<std::int32_t>({-2, 3, 0});
  static_assert(std::is_same_v<type_of<decltype(abs(u))>, float>);
  static_assert(std::is_same_v<type_of<decltype(real(u))>, float>);
  static_assert(std::is_same_v<type_of<decltype(arg(u))>, float>);
  static_assert(std::is_same_v<type_of<decltype(conj(u))>, c64>);
  static_assert(std::is_same_v<type_of<decltype(arg(n))>, double>);
  static_assert(std::is_same_v<type_of<decltype(imag(n))>, std::int32_t>);
  auto const pi = std::acos(-1.0);

  CHECK_ALL(holds(DistArray(real(u)), std::vector<float>{3, 0, -1}));
  CHECK_ALL(holds(DistArray(imag(u)), std::vector<float>{-4, 2, 0}));
  CHECK_ALL(holds(DistArray(abs(u)), std::vector<float>{5, 2, 1}));
  CHECK_ALL(holds(DistArray(conj(u)), std::vector<c64>{{3, 4}, {0, -2}, {-1, -0.0F}}));
  CHECK_ALL(holds(DistArray(arg(cast<c128>(u))), Doubles{std::atan2(-4.0, 3.0), pi / 2, pi}));
  CHECK_ALL(holds(DistArray(real(x) + imag(x)), Doubles{-2, 0.5, 0}));
  CHECK_ALL(holds(DistArray(arg(n)), Doubles{pi, 0, 0}));
  CHECK_ALL(holds(DistArray(conj(n)), std::vector<std::int32_t>{-2, 3, 0}));
  CHECK_ALL(
      holds(DistArray(abs(made_of<c128>({{1e200, 1e200}}))), Doubles{std::hypot(1e200, 1e200)}));
}

TEST_CASE("a complex number raises the kind of an array, never its width") {
  auto const f = made_of<float>({1, 2});
  auto const d = made_of<double>({1, 2});
  auto const n = made_of<std::int16_t>({1, 2});
  auto const z = made_of<c64>({{1, 1}, {2, -2}});
  static_assert(std::is_same_v<type_of<decltype(f * i)>, c64>);
  static_assert(std::is_same_v<type_of<decltype(d * c64(0, 1))>, c128>);
  static_assert(std::is_same_v<type_of<decltype(n + i)>, c128>);
  static_assert(std::is_same_v<type_of<decltype(z + i)>, c64>);
  static_assert(std::is_same_v<type_of<decltype(z * 0.5)>, c64>);
  static_assert(std::is_same_v<type_of<decltype(2 - z)>, c64>);
  static_assert(std::is_same_v<type_of<decltype(z + d)>, c128>);
  static_assert(std::is_same_v<type_of<decltype(z + n)>, c64>);
  static_assert(std::is_same_v<type_of<decltype(z == i)>, bool>);
  static_assert(std::is_same_v<type_of<decltype(where(f > 1, f, i))>, c64>);
  static_assert(std::is_same_v<type_of<decltype(where(f > 1, i, 2))>, c128>);

  CHECK_ALL(holds(DistArray(f + 2.0 * i), std::vector<c64>{{1, 2}, {2, 2}}));
  CHECK_ALL(holds(DistArray(i * n), Complexes{{0, 1}, {0, 2}}));
  CHECK_ALL(holds(DistArray(z * 0.5), std::vector<c64>{{0.5, 0.5}, {1, -1}}));
  CHECK_ALL(holds(DistArray(d / z), Complexes{{0.5, -0.5}, {0.5, 0.5}}));
  CHECK_ALL(holds(DistArray(where(f > 1, z, 0.1)), std::vector<c64>{{0.1F, 0}, {2, -2}}));
}

TEST_CASE("functions of complex numbers are C++'s" * test::not_on_cuda()) {
  auto const u = made_of<c128>({{3, -4}, {0.3, 0.1}, {-1, 0.7}});
  auto const wanted = [&](auto const& f) {
    Complexes result;
    for (auto const z : u.to_host()) result.push_back(f(z));
    return result;
  };

  CHECK_ALL(holds(DistArray(sqrt(u)), wanted([](c128 z) { return std::sqrt(z); })));
  CHECK_ALL(holds(DistArray(exp(u)), wanted([](c128 z) { return std::exp(z); })));
  CHECK_ALL(holds(DistArray(log(u)), wanted([](c128 z) { return std::log(z); })));
  CHECK_ALL(
      holds(DistArray(sin(u) + cos(u)), wanted([](c128 z) { return std::sin(z) + std::cos(z); })));
  CHECK_ALL(holds(DistArray(tanh(u)), wanted([](c128 z) { return std::tanh(z); })));
  CHECK_ALL(holds(DistArray(pow(u, 2.5)), wanted([](c128 z) { return std::pow(z, c128(2.5)); })));
}

TEST_CASE("division neither overflows half-way nor hides a zero") {
  auto const u = made_of<c128>({{1e300, 1e300}, {1, 0}, {0, 0}});
  auto const v = made_of<c128>({{1e300, 1e300}, {0, 0}, {0, 0}});

  auto const q = DistArray(u / v).to_host();

  CHECK_ALL(q[0] == c128(1, 0));
  CHECK_ALL(q[1].real() == infinity && std::isnan(q[1].imag()));
  CHECK_ALL(std::isnan(q[2].real()) && std::isnan(q[2].imag()));
}

TEST_CASE("numbers of all kinds are assigned to complex arrays") {
  auto z = zeros<c64>({4}, over(8));
  z = 1.5;
  CHECK_ALL(holds(z, std::vector<c64>(4, {1.5, 0})));
  z = c128(0.5, -2);
  CHECK_ALL(holds(z, std::vector<c64>(4, {0.5, -2})));
  z(range(1, 3)) = iota<std::int64_t>({2}, over(2));
  CHECK_ALL(holds(z, std::vector<c64>{{0.5, -2}, {0, 0}, {1, 0}, {0.5, -2}}));
  z(z == 1) = i;
  z += i;
  z(0) *= 2.0 * i;
  CHECK_ALL(holds(z, std::vector<c64>{{2, 1}, {0, 1}, {0, 2}, {0.5, -1}}));
  c64 const last = z(3);
  CHECK_ALL(last == c64(0.5, -1));
  CHECK_ALL(holds(DistArray(cast<bool>(z * 0)), std::vector<bool>(4, false)));
  CHECK_ALL(holds(iota<c64>({3}, over(2)), std::vector<c64>{0, 1, 2}));
}

TEST_CASE("neighbours, transposes and gathers move both parts") {
  auto const m = test::Mirror<c128>::made_of({4, 6}, [](Index const& at) {
    return c128(static_cast<double>(10 * at[0]), static_cast<double>(at[1]));
  });
  for (auto const& sharding : test::layouts_of_plane(4, 6)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<c128, 2>(m, sharding);
    auto const moved = DistArray(shift(u, {1, -1}, {constant(c128(5, -5)), periodic})).to_host();
    CHECK_ALL(moved[0] == c128(10, 5));
    CHECK_ALL(moved[19] == c128(5, -5));
    CHECK_ALL(DistArray(roll(u, 2, 1)).to_host()[8] == c128(10, 0));
    CHECK_ALL(holds(DistArray(transpose(u)), test::transposed(m, {1, 0})));
    CHECK_ALL(holds(reshard(u, over(8, 1)), m));
  }
  auto const x = iota<double>({3}, over(3));
  CHECK_ALL_THROW((void)shift(x, 1, constant(i)), UsageError);
}

TEST_CASE("complex numbers are printed as C++ does") {
  std::ostringstream out;
  out << made_of<c64>({{1, -2}, {0.5, 0}}, 2);
  if (process().value() == 0) CHECK(out.str().starts_with("[(1,-2) (0.5,0)]\ncomplex64 (2,) on "));
}

TEST_SUITE_END();
