#include "tessera/base/half.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/print.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Arrays of 16-bit floats.
TEST_SUITE_BEGIN("expr/half");

namespace {

using Halves = std::vector<float16>;
using Brains = std::vector<bfloat16>;

template <class T>
DistArray<T, 1> made_of(std::vector<T> const& cells, std::int64_t devices = 3) {
  return from_host<T, 1>(std::span<T const>(cells), {std::ssize(cells)}, over(devices));
}

template <class E>
using type_of = typename E::value_type;

}  // namespace

TEST_CASE("types are NumPy's, and two short types have only float in common") {
  auto const h = made_of<float16>({1});
  auto const b = made_of<bfloat16>({1});
  auto const f = made_of<float>({1});
  auto const n = made_of<std::int32_t>({1});
  static_assert(std::is_same_v<type_of<decltype(h + h)>, float16>);
  static_assert(std::is_same_v<type_of<decltype(h * f)>, float>);
  static_assert(std::is_same_v<type_of<decltype(b - f)>, float>);
  static_assert(std::is_same_v<type_of<decltype(h + b)>, float>);
  static_assert(std::is_same_v<type_of<decltype(h * 0.5)>, float16>);
  static_assert(std::is_same_v<type_of<decltype(2 / b)>, bfloat16>);
  static_assert(std::is_same_v<type_of<decltype(f * float16(2))>, float>);
  static_assert(std::is_same_v<type_of<decltype(h + n)>, double>);
  static_assert(std::is_same_v<type_of<decltype(h < b)>, bool>);
  static_assert(std::is_same_v<type_of<decltype(sqrt(b))>, bfloat16>);
  static_assert(std::is_same_v<type_of<decltype(h + std::complex<double>())>, std::complex<float>>);

  CHECK_ALL(holds(DistArray(h + b), std::vector<float>{2}));
}

TEST_CASE("every operation is computed as float and rounded") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto const u = made_of<float16>({2048, 0.1, 60000, 0x1p-24}, devices);
    auto const b = made_of<bfloat16>({256, 0.1, 3e38, -1}, devices);

    // 2049 lies in the middle between 2048 and 2050, so each sum goes back to 2048.
    CHECK_ALL(holds(DistArray(u + 1.0 + 1.0), Halves{2048, float16(0.1F) + 2.0F, 60000, 2}));
    CHECK_ALL(holds(DistArray(u * 2.0),
                    Halves{4096, 0.2, std::numeric_limits<float16>::infinity(), 0x1p-23}));
    CHECK_ALL(holds(DistArray(u / 2.0), Halves{1024, 0.05, 30000, 0}));
    CHECK_ALL(holds(DistArray(b + 1), Brains{256, 1.1, 3e38, 0}));
    CHECK_ALL(holds(DistArray(-b), Brains{-256, -0.1, -3e38, 1}));
    CHECK_ALL(holds(DistArray(cast<float>(u(range(0, 1))) + 1.0F), std::vector<float>{2049}));
    CHECK_ALL(
        holds(DistArray(abs(b) % 7), Brains{4, 0.1, std::fmod(float{bfloat16(3e38)}, 7.0F), 1}));
    CHECK_ALL(holds(DistArray(u == 0.1), std::vector<bool>{0, 1, 0, 0}));
    CHECK_ALL(holds(DistArray(maximum(u, 1)), Halves{2048, 1, 60000, 1}));
    CHECK_ALL(holds(DistArray(floor(sqrt(u))), Halves{45, 0, 245, 0}));
  }
}

TEST_CASE("assignments and casts convert from and to every type") {
  auto u = zeros<float16>({3}, over(8));
  u = 1.1;
  CHECK_ALL(holds(u, Halves(3, 1.1)));
  u = iota<std::int64_t>({3}, over(2)) * 30000;
  CHECK_ALL(holds(u, Halves{0, 30000, 60000}));
  u(1) = made_of<double>({1e5}, 1)(0);
  CHECK_ALL(holds(DistArray(cast<std::int16_t>(u)), std::vector<std::int16_t>{0, 32767, 32767}));
  CHECK_ALL(holds(DistArray(cast<bool>(u)), std::vector<bool>{0, 1, 1}));
  CHECK_ALL(holds(DistArray(cast<bfloat16>(u)),
                  Brains{0, std::numeric_limits<bfloat16>::infinity(), 60000}));
  CHECK_ALL(holds(DistArray(shift(u, 1, constant(0.1))),
                  Halves{std::numeric_limits<float16>::infinity(), 60000, 0.1}));
  CHECK_ALL(holds(DistArray(where(u > 0, 1.5, u)), Halves{0, 1.5, 1.5}));
  float16 const one = u(2);
  CHECK_ALL(one == 60000);
  CHECK_ALL(holds(iota<float16>({3}, over(2)), Halves{0, 1, 2}));
}

TEST_CASE("a message of short floats has half the bytes") {
  auto u = iota<bfloat16>({64}, over(8));
  auto v = zeros<bfloat16>({64}, over(8));

  auto const sent = test::sent_by([&] { v = shift(u, 1, periodic); });

  CHECK(sent.messages == 8);
  CHECK(sent.bytes == 8 * 2);
}

TEST_CASE("short floats are printed as numbers") {
  std::ostringstream out;
  out << made_of<bfloat16>({1.5, -2}, 2);
  if (process().value() == 0) CHECK(out.str().starts_with("[1.5 -2]\nbfloat16 (2,) on "));
}

TEST_SUITE_END();
