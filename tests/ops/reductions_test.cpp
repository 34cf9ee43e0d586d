#include "tessera/ops/reductions.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>

#include "tessera/array/shift.hpp"

#include "src/ops/detail.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("ops/reductions");

namespace {

using Doubles = std::vector<double>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
DistArray<T, 1> made_of(std::vector<T> const& cells, std::int64_t devices = 3) {
  return from_host<T, 1>(std::span<T const>(cells), {std::ssize(cells)}, over(devices));
}

// Terms of very different sizes whose naive sum depends on the order.
Doubles rough(std::size_t count) {
  test::Random random(count);
  Doubles terms;
  for (std::size_t i = 0; i < count; ++i)
    terms.push_back(std::ldexp(static_cast<double>(random.between(-1'000'000'007, 1'000'000'007)),
                               static_cast<int>(random.between(-60, 60))));
  return terms;
}

template <class T>
bool same(T a, T b) {
  return test::same_bits(std::vector<T>{a}, std::vector<T>{b});
}

}  // namespace

TEST_CASE("beside a C++ bool a single value is a bool, which && and || may not need") {
  auto const u = made_of<double>({1.0, 2.0, 3.0});
  auto const reductions = [&](bool late) {
    auto const before = counters().statements;
    bool const both = late && max(u) < 4.0;
    bool const either = !late || min(u) > 4.0;
    CHECK_ALL(both == late && either == !late);
    return counters().statements - before;
  };
  CHECK_ALL(reductions(true) == 2);
  CHECK_ALL(reductions(false) == 0);
  // Cells and coordinates stay expressions, and so do two single values.
  CHECK_ALL(holds(DistArray(u > 1.0 && true), std::vector<bool>{false, true, true}));
  CHECK_ALL(holds(DistArray(where(true && index(0) > 1, u, 0.0)), std::vector<double>{0, 0, 3}));
  CHECK_ALL(holds(DistArray(where(max(u) > 2.0 && min(u) > 2.0, u, 0.0)), std::vector<double>(3)));
}

TEST_CASE("sums of whole arrays, slices and expressions by hand") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto const u = iota<std::int64_t>({10}, over(devices));
    auto const x = iota<double>({10}, over(devices));

    CHECK_ALL(sum(u) == 45);
    CHECK_ALL(sum(u(range(1, none, 3))) == 12);
    CHECK_ALL(sum(u * u - 1) == 275);
    CHECK_ALL(sum(u > 6) == 3);
    CHECK_ALL(sum(shift(u, 1, constant(100))) == 145);
    CHECK_ALL(same(sum(0.5 * x).value(), 22.5));
    CHECK_ALL(min(u) == 0);
    CHECK_ALL(max(u(range(2, 5))) == 4);
    CHECK_ALL(static_cast<bool>(tessera::all(u >= 0)));
    CHECK_ALL(!static_cast<bool>(tessera::all(u > 0)));
    CHECK_ALL(static_cast<bool>(any(u == 7)));
    CHECK_ALL(!static_cast<bool>(any(u == 10)));
  }
}

TEST_CASE("each cell of a replicated array counts once") {
  Mesh const grid({{"a", 2}, {"b", 4}});
  for (auto const& spec : {P("a"), P("b"), P(none), P({"b", "a"})}) {
    auto const u = iota<std::int64_t>({10}, {grid, spec});
    CHECK_ALL(sum(u) == 45);
    CHECK_ALL(sum(u(3) + u) == 75);
    CHECK_ALL(max(u * 2) == 18);
  }
}

TEST_CASE("floating sums have the same bits on any layout") {
  for (std::int64_t const extent : {1, 7, 60, 1000}) {
    auto const terms = rough(static_cast<std::size_t>(extent));
    BinnedSum serial;
    serial.add(terms);
    for (auto const& sharding : test::layouts_of_row(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto const u = from_host<double, 1>(std::span<double const>(terms), {extent}, sharding);
      CHECK_ALL(same(sum(u).value(), serial.value()));
      CHECK_ALL(same(sum(shift(u, 3, periodic)).value(), serial.value()));
    }
  }
  auto const plane = rough(7 * 11);
  BinnedSum serial;
  serial.add(plane);
  for (auto const& sharding : test::layouts_of_plane(7, 11)) {
    CAPTURE(sharding);
    auto const u = from_host<double, 2>(std::span<double const>(plane), {7, 11}, sharding);
    CHECK_ALL(same(sum(u).value(), serial.value()));
  }
}

TEST_CASE("sums widen integers and keep floating types") {
  auto const bytes = made_of<std::uint8_t>({200, 100, 255});
  auto const words = made_of<std::int32_t>({2147483647, 2147483647, 2});
  auto const floats = made_of<float>({0.1F, 0.2F, 0.3F});
  static_assert(std::is_same_v<decltype(sum(bytes).value()), std::uint64_t>);
  static_assert(std::is_same_v<decltype(sum(words).value()), std::int64_t>);
  static_assert(std::is_same_v<decltype(sum(floats).value()), float>);
  static_assert(std::is_same_v<decltype(sum(floats > 0).value()), std::int64_t>);
  static_assert(std::is_same_v<decltype(max(bytes).value()), std::uint8_t>);

  CHECK_ALL(sum(bytes) == 555);
  CHECK_ALL(sum(words) == 4294967296);
  CHECK_ALL(same(sum(floats).value(), static_cast<float>(0.1F + 0.2 + 0.3)) ||
            std::fabs(sum(floats).value() - 0.6F) < 1e-7F);
  CHECK_ALL(max(bytes) == 255);
}

TEST_CASE("NaN, infinities and zeros of either sign come out as NumPy has them") {
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    auto const with_nan = made_of<double>({1, not_a_number, -5, 2}, devices);
    auto const high = made_of<double>({1, infinity, 3, 4}, devices);
    auto const both = made_of<double>({-infinity, 1, 2, infinity}, devices);
    auto const zeros_of_both = made_of<double>({-0.0, 0.0, -0.0, 0.0}, devices);

    CHECK_ALL(std::isnan(sum(with_nan).value()));
    CHECK_ALL(std::isnan(min(with_nan).value()));
    CHECK_ALL(std::isnan(max(with_nan).value()));
    CHECK_ALL(sum(high).value() == infinity);
    CHECK_ALL(max(high).value() == infinity);
    CHECK_ALL(std::isnan(sum(both).value()));
    CHECK_ALL(min(both).value() == -infinity);
    CHECK_ALL(same(sum(zeros_of_both).value(), 0.0));
    CHECK_ALL(same(min(zeros_of_both).value(), 0.0));
    CHECK_ALL(same(sum(made_of<double>({-0.0, -0.0}, devices)).value(), 0.0));
  }
}

TEST_CASE("sums of nothing are zero and its extremes an error") {
  auto const none_at_all = zeros<double>({0}, over(8));
  auto const plane = zeros<std::int64_t>({3, 0}, over(2, 4));
  auto const u = iota<double>({5}, over(8));
  auto const before = counters();

  CHECK_ALL_THROW((void)min(none_at_all), ShapeError);
  CHECK_ALL_THROW((void)max(plane), ShapeError);
  CHECK_ALL_THROW((void)min(u(range(2, 2))), ShapeError);
  CHECK_ALL((counters() - before).messages == 0);

  CHECK_ALL(same(sum(none_at_all).value(), 0.0));
  CHECK_ALL(sum(plane) == 0);
  CHECK_ALL(sum(u(range(3, 1))) == 0);
  CHECK_ALL(static_cast<bool>(tessera::all(none_at_all > 0)));
  CHECK_ALL(!static_cast<bool>(any(none_at_all > 0)));
}

TEST_CASE("a scalar is used in expressions without anybody waiting") {
  auto u = iota<double>({8}, over(8));
  auto const s = sum(u);
  u = u - s / 8.0;
  auto const t = sum(u * u);

  CHECK_ALL(holds(u, Doubles{-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5}));
  CHECK_ALL(same(s.value(), 28.0));
  CHECK_ALL(same(static_cast<double>(sqrt(t / 42.0)), 1.0));
  u = s;
  CHECK_ALL(holds(u, Doubles(8, 28.0)));
}

TEST_CASE("a scalar is made of other scalars and numbers, on every device") {
  auto u = iota<double>({8}, {Mesh({3, 1}, {2}, {"x"}), P("x")});
  auto v = zeros<double>({8}, over(8));
  auto const k = iota<std::int64_t>({8}, over(3));
  auto const z = full<std::complex<double>>({3}, {1.0, 2.0}, over(2));

  Scalar<double> rr = sum(u * u);
  Scalar<double> const alpha = rr / sum(u);
  CHECK_ALL(same(alpha.value(), 5.0));
  v = v + alpha;
  u = 2.0 * u;
  rr = rr + 0.5 * alpha;
  v = v + rr;
  CHECK_ALL(holds(v, Doubles(8, 5.0 + 142.5)));

  Scalar<double> const of_integers(sum(k));
  Scalar<float> const narrow = rr / 3.0;
  Scalar<bool> const is_any = any(u > 13.0) && !all(u > 0.0);
  Scalar<double> const magnitude = abs(sum(z));
  Scalar<double> const chosen = where(max(u) > 100.0, -1.0, exp(min(u)));
  CHECK_ALL(same(of_integers.value(), 28.0));
  CHECK_ALL(same(narrow.value(), 47.5F));
  CHECK_ALL(is_any.value());
  CHECK_ALL(same(magnitude.value(), static_cast<double>(abs(sum(z)))));
  CHECK_ALL(same(chosen.value(), 1.0));
}

TEST_CASE("a scalar is made of elements and of arrays without dimensions") {
  auto u = iota<double>({8}, over(8));
  auto const rate = full<double, 0>({}, 0.25, {Mesh({2, 0}, {2}, {"x"}), P()});

  Scalar<double> const last(u(7));
  Scalar<double> const slope = (u(6) - u(1)) * rate / last;
  u = 0.0;

  CHECK_ALL(same(last.value(), 7.0));
  CHECK_ALL(same(slope.value(), 5.0 * 0.25 / 7.0));
}

TEST_CASE("the operand of a sum is read at the call") {
  auto u = iota<std::int64_t>({8}, over(4));
  auto const before = sum(u);
  u = 0;
  CHECK_ALL(before == 28);
  CHECK_ALL(sum(u) == 0);
}

TEST_CASE("a loop that ends by a tolerance ends at once everywhere") {
  auto u = iota<double>({32}, over(8));
  auto const inner = range(1, -1);
  int steps = 0;
  for (; steps < 2000; ++steps) {
    DistArray const before = u;
    u(inner) = 0.5 * (u(range(0, -2)) + u(from(2)));
    u(0) = 1.0;
    if (max(abs(u - before)) < 1e-4) break;
  }
  CHECK(test::total_over_processes(steps) == steps * process_count());
  CHECK(steps > 10);
  CHECK(steps < 2000);
}

TEST_CASE("scalars reach processes and devices off the array's mesh") {
  auto const u = iota<std::int64_t>({6}, {Mesh({3, 1}, {2}, {"x"}), P("x")});
  auto v = zeros<std::int64_t>({8}, over(8));

  v = v + sum(u) + max(u);

  CHECK_ALL(holds(v, std::vector<std::int64_t>(8, 20)));
}

TEST_CASE("a hash names the cells and their order, not where they lie") {
  auto const m = test::scrambled<double>({7, 10});
  auto const reference = hash(test::spread_out<double, 2>(m, over(1, 1)));
  for (auto const& sharding : test::layouts_of_plane(7, 10))
    CHECK_ALL(hash(test::spread_out<double, 2>(m, sharding)) == reference);

  auto u = test::spread_out<double, 2>(m, over(2, 4));
  u(3, 3) = u(3, 3) + 1e-9;
  CHECK_ALL(hash(u) != reference);
  auto const line = iota<double>({6}, over(8));
  CHECK_ALL(hash(line) != hash(DistArray(roll(line, 1))));
}

TEST_CASE("in a hash every NaN is the same one") {
  auto const hash_of = [](auto value) {
    auto u = zeros<decltype(value)>({5}, over(2));
    u(3) = value;
    return hash(u);
  };
  auto const check = [&]<class T>(T nan) {
    auto const reference = hash_of(std::numeric_limits<T>::quiet_NaN());
    CHECK_ALL(hash_of(nan) == reference);
    CHECK_ALL(hash_of(std::numeric_limits<T>::infinity()) != reference);
    CHECK_ALL(hash_of(T{}) != reference);
  };
  check(std::bit_cast<double>(0xfff8'0000'0000'0123ULL));
  check(std::bit_cast<float>(0xffc0'0123U));
  check(float16::from_bits(0xfe01));
  check(bfloat16::from_bits(0xffc1));
  check(-std::numeric_limits<long double>::quiet_NaN());

  auto const nan = std::numeric_limits<double>::quiet_NaN();
  using Complex = std::complex<double>;
  CHECK_ALL(hash_of(Complex(nan, 1)) == hash_of(Complex(-nan, 1)));
  CHECK_ALL(hash_of(Complex(1, nan)) == hash_of(Complex(1, -nan)));
  CHECK_ALL(hash_of(Complex(1, nan)) != hash_of(Complex(nan, 1)));
  CHECK_ALL(hash_of(0.0) != hash_of(-0.0));
}

TEST_CASE("arrays are equal wherever they lie") {
  auto const m = test::scrambled<double>({9});
  for (auto const& a : test::layouts_of_row(9)) {
    auto const u = test::spread_out<double, 1>(m, a);
    auto v = test::spread_out<double, 1>(m, over(4));
    CHECK_ALL(all_equal(u, v));
    CHECK_ALL(all_equal(u(range(1, 7)), v(range(1, 7))));
    CHECK_ALL(all_equal(u + u, 2 * v));
    CHECK_ALL(!all_equal(u(range(1, 7)), v(range(1, 8))));
    CHECK_ALL(!all_equal(u, v(newaxis, tessera::all)));
    v(8) = 0.5;
    CHECK_ALL(!all_equal(u, v));
    CHECK_ALL(all_equal(u(range(0, 8)), v(range(0, 8))));
  }
  CHECK_ALL(!all_equal(zeros<double>({4}, over(2)), zeros<double>({5}, over(2))));
  CHECK_ALL(!all_equal(made_of<double>({not_a_number}), made_of<double>({not_a_number})));
}

TEST_CASE("five dimensions and one cell reduce as well") {
  auto const u =
      iota<std::int64_t>({2, 3, 1, 2, 4}, {Mesh({{"x", 8}}), P(none, "x", none, none, none)});
  CHECK_ALL(sum(u) == 47 * 48 / 2);
  CHECK_ALL(sum(u(1, 2, 0, 1, tessera::all)) == 44 + 45 + 46 + 47);
  CHECK_ALL(max(iota<std::int64_t>({1, 1}, over(2, 4))) == 0);
}

TEST_SUITE_END();
