#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/shift.hpp"
#include "tessera/ops/reductions.hpp"

#include "src/ops/detail.hpp"

#include "support/arrays.hpp"

#include "oracle.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Reductions of complex numbers and of 16-bit floats.
TEST_SUITE_BEGIN("ops/complex");

namespace {

using c64 = std::complex<float>;
using c128 = std::complex<double>;
using Complexes = std::vector<c128>;
using Doubles = std::vector<double>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
DistArray<T, 1> made_of(std::vector<T> const& cells, std::int64_t devices = 3) {
  return from_host<T, 1>(std::span<T const>(cells), {std::ssize(cells)}, over(devices));
}

template <class T>
bool same(T a, T b) {
  return test::same_bits(std::vector<T>{a}, std::vector<T>{b});
}

// Parts of very different sizes, whose naive sum depends on the order.
Complexes rough(std::size_t count) {
  test::Random random(count);
  auto const part = [&] {
    return std::ldexp(static_cast<double>(random.between(-1'000'000'007, 1'000'000'007)),
                      static_cast<int>(random.between(-60, 60)));
  };
  Complexes terms;
  for (std::size_t k = 0; k < count; ++k) terms.emplace_back(part(), part());
  return terms;
}

template <class F>
Doubles parts(Complexes const& terms, F const& f) {
  Doubles result;
  for (auto const z : terms) result.push_back(f(z));
  return result;
}
double real_part(c128 z) {
  return z.real();
}
double imaginary_part(c128 z) {
  return z.imag();
}
c128 sum_of(Complexes const& terms) {
  return {test::sum_of(parts(terms, real_part)), test::sum_of(parts(terms, imaginary_part))};
}

}  // namespace

TEST_CASE("reductions of complex numbers by hand") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto const u = made_of<c128>({{1, 2}, {3, -4}, {0, 0}, {-2, 6}}, devices);
    auto const v = made_of<c64>({{0, 1}, {2, 0}, {5, 5}, {1, 1}}, devices);
    static_assert(std::is_same_v<decltype(sum(v).value()), c64>);
    static_assert(std::is_same_v<decltype(mean(v).value()), c64>);
    static_assert(std::is_same_v<decltype(var(v).value()), float>);
    static_assert(std::is_same_v<decltype(norm(v).value()), float>);
    static_assert(std::is_same_v<decltype(dot(v, real(v)).value()), c64>);

    CHECK_ALL(sum(u).value() == c128(2, 4));
    CHECK_ALL(mean(u).value() == c128(0.5, 1));
    CHECK_ALL(prod(u(range(0, 2))).value() == c128(11, 2));
    CHECK_ALL(prod(u).value() == c128(0, 0));
    CHECK_ALL(var(u).value() == 70.0 / 4 - 1.25);
    CHECK_ALL(stddev(u, 1).value() == std::sqrt((70.0 - 5) / 3));
    CHECK_ALL(norm(u).value() == std::sqrt(70.0));
    CHECK_ALL(norm(u(range(1, 3)), 1).value() == 5.0);
    CHECK_ALL(norm(u(range(0, 3)), inf).value() == 5.0);
    CHECK_ALL(dot(u, v).value() == c128(-4, -3));
    CHECK_ALL(vdot(u, v).value() == c128(12, 1));
    CHECK_ALL(vdot(u, u).value() == c128(70, 0));
    CHECK_ALL(vdot(real(u), real(u)).value() == 14.0);
    CHECK_ALL(count(u) == 3);
    CHECK_ALL(static_cast<bool>(any(u)));
    CHECK_ALL(!static_cast<bool>(tessera::all(u)));
    CHECK_ALL(sum(u * 2.0 + c128(0, 1), fast).value() == c128(4, 12));
  }
}

TEST_CASE("sums and dots of complex numbers have the same bits on any layout") {
  for (std::int64_t const extent : {1, 7, 60, 1000}) {
    auto const terms = rough(static_cast<std::size_t>(extent));
    auto const mean_value = sum_of(terms) / static_cast<double>(extent);
    auto const squares =
        parts(terms, [](c128 z) { return z.real() * z.real() + z.imag() * z.imag(); });
    auto const differences = parts(terms, [&](c128 z) {
      auto const d = z - mean_value;
      return d.real() * d.real() + d.imag() * d.imag();
    });
    for (auto const& sharding : test::layouts_of_row(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto const u = from_host<c128, 1>(std::span<c128 const>(terms), {extent}, sharding);
      CHECK_ALL(same(sum(u).value(), sum_of(terms)));
      CHECK_ALL(same(sum(shift(u, 3, periodic)).value(), sum_of(terms)));
      CHECK_ALL(same(mean(u).value(), mean_value));
      CHECK_ALL(same(var(u).value(), test::sum_of(differences) / static_cast<double>(extent)));
      CHECK_ALL(same(norm(u).value(), std::sqrt(test::sum_of(squares))));
      CHECK_ALL(vdot(u, u).value().real() == test::sum_of(squares));
    }
  }
}

TEST_CASE("complex reductions along dimensions") {
  auto const m = test::Mirror<c128>::made_of({5, 7}, [](Index const& i) {
    return c128(0.1 * static_cast<double>(i[0] * 7 + i[1]), 0.3 * static_cast<double>(i[1] - i[0]));
  });
  auto const columns = test::reduced_by(m, {0}, sum_of);
  auto const rows = test::reduced_by(m, {1}, sum_of);
  for (auto const& sharding : test::layouts_of_plane(5, 7)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<c128, 2>(m, sharding);
    CHECK_ALL(holds(sum(u, axis(0)), columns));
    CHECK_ALL(holds(sum(u, axis(1)), rows));
    CHECK_ALL(holds(count(u, axis(0)), std::vector<std::int64_t>{4, 5, 5, 5, 5, 5, 5}));
    auto const spread = var(u, axis(0));
    static_assert(std::is_same_v<decltype(spread)::value_type, double>);
    CHECK_ALL(std::fabs(spread.to_host()[3] - (0.7 * 0.7 + 0.3 * 0.3) * 2) < 1e-12);
  }
}

TEST_CASE("products of complex numbers do not overflow half-way and lose no digits") {
  Complexes factors;
  test::Random random(5);
  for (int k = 0; k < 400; ++k)
    factors.emplace_back(static_cast<double>(random.between(-900, 900)) * 0.0037,
                         static_cast<double>(random.between(-900, 900)) * 0.0029);
  WideComplexProduct serial;
  serial.multiply(parts(factors, real_part), parts(factors, imaginary_part));
  for (auto const& sharding : test::layouts_of_row(400)) {
    CAPTURE(sharding);
    auto const u = from_host<c128, 1>(std::span<c128 const>(factors), {400}, sharding);
    CHECK_ALL(same(prod(u).value(), serial.value()));
  }
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto const far = made_of<c128>(
        {{0, 0x1p1000}, {3, 4}, {0x1p1000, 0}, {0, 0x1p-1020}, {0x1p-980, 0}}, devices);
    CHECK_ALL(prod(far).value() == c128(-3, -4));
    CHECK_ALL(prod(made_of<c128>({}, devices)).value() == c128(1, 0));
    CHECK_ALL(prod(made_of<c64>({{1, 1}, {1, 1}, {0, 1}}, devices)).value() == c64(-2, 0));
    auto const high = prod(made_of<c128>({{1, 1}, {infinity, 0}}, devices)).value();
    CHECK_ALL(std::isnan(high.real()) && std::isnan(high.imag()));
    auto const beyond = prod(made_of<c128>({{1e300, 0}, {0, 1e300}}, devices)).value();
    CHECK_ALL(beyond == c128(0, infinity));
    auto const tiny = prod(made_of<c128>({{3, 0}, {0, 0x1p-1074}, {0.5, 0}}, devices)).value();
    CHECK_ALL(tiny == c128(0, 0x1p-1073));
  }
}

TEST_CASE("NaN and infinities stay in the part that they are in") {
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    auto const u = made_of<c128>({{1, infinity}, {not_a_number, 2}, {3, 4}}, devices);
    auto const total = sum(u).value();
    CHECK_ALL(std::isnan(total.real()) && total.imag() == infinity);
    CHECK_ALL(count(u) == 3);
    CHECK_ALL(norm(u(range(0, 1)), inf).value() == infinity);
    CHECK_ALL(std::isnan(norm(u).value()));
  }
  auto const nothing = zeros<c64>({0}, over(8));
  CHECK_ALL(sum(nothing).value() == c64(0, 0));
  CHECK_ALL(std::isnan(mean(nothing).value().imag()));
  CHECK_ALL_THROW((void)norm(nothing, inf), ShapeError);
}

TEST_CASE("hashes and equality take both parts") {
  Complexes const terms = rough(9);
  auto const reference = hash(made_of(terms, 1));
  for (auto const& sharding : test::layouts_of_row(9)) {
    auto u = from_host<c128, 1>(std::span<c128 const>(terms), {9}, sharding);
    CHECK_ALL(hash(u) == reference);
    CHECK_ALL(all_equal(u, made_of(terms, 2)));
    u(4) = conj(u(4));
    CHECK_ALL(hash(u) != reference);
    CHECK_ALL(!all_equal(u, made_of(terms, 2)));
  }
}

TEST_CASE("a scalar that is complex is used without waiting") {
  auto u = made_of<c128>({{1, 1}, {3, -1}}, 8);
  u = u - mean(u);
  CHECK_ALL(holds(u, Complexes{{-1, 1}, {1, -1}}));
  double const size = abs(sum(u * c128(0, 1)) + 3.0);
  CHECK_ALL(size == 3.0);
}

TEST_CASE("sums and means of 16-bit floats are exact until they are rounded once") {
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    auto const u = made_of<float16>({2048.0, 1.0, 1.0, 0.5}, devices);
    auto const b = made_of<bfloat16>({256.0, 1.0, 1.0, -3.0}, devices);
    static_assert(std::is_same_v<decltype(sum(u).value()), float16>);
    static_assert(std::is_same_v<decltype(mean(b).value()), bfloat16>);
    static_assert(std::is_same_v<decltype(argmax(b).value()), std::int64_t>);

    CHECK_ALL(sum(u).value() == 2050.0F);
    CHECK_ALL(sum(cast<float>(u)).value() == 2050.5F);
    CHECK_ALL(mean(u).value() == 512.5F);
    CHECK_ALL(sum(b).value() == 255.0F);
    CHECK_ALL(prod(b).value() == -768.0F);
    CHECK_ALL(min(b).value() == -3.0F);
    CHECK_ALL(max(u).value() == 2048.0F);
    CHECK_ALL(argmin(b) == 3);
    CHECK_ALL(dot(u, u).value() == std::numeric_limits<float16>::infinity());
    CHECK_ALL(norm(u(range(1, 3))).value() == float16(std::sqrt(2.0)));
    CHECK_ALL(var(u(range(1, 4))).value() == float16(1.0 / 18));
    CHECK_ALL(count(b) == 4);
    CHECK_ALL(std::isnan(static_cast<float>(max(u * not_a_number).value())));
    CHECK_ALL(holds(sum(DistArray(u(newaxis, tessera::all)), axis(0)),
                    std::vector<float16>{2048.0, 1.0, 1.0, 0.5}));
  }
}

TEST_SUITE_END();
