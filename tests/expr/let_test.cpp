#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/contract.hpp"
#include "tessera/array/field.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::over;
using test::scrambled;
using test::spread_out;

/// Expressions that a statement reads several times give the bits that they give alone.
TEST_SUITE_BEGIN("expr/let");

namespace {

struct Named {
  template <class E>
  auto operator()(E const& e) const {
    return let(e);
  }
};
struct Plain {
  template <class E>
  E operator()(E const& e) const {
    return e;
  }
};

/// True if an expression, made by f(name), is the same with let() as without.
template <class F, class... Sharding>
bool is_same(F const& f, Sharding const&... sharding) {
  return test::same_bits(DistArray(f(Named()), sharding...).to_host(),
                         DistArray(f(Plain()), sharding...).to_host());
}

auto const before = range(0, -2), inner = range(1, -1), after = from(2);

/// Statements on rows of `cells`.
template <class T>
void check_rows(std::int64_t cells, NamedSharding const& sharding) {
  CAPTURE(cells);
  CAPTURE(sharding);
  auto const u = spread_out<T, 1>(scrambled<T>({cells}), sharding);
  auto const v = u * u - T(3) * u;
  auto const check = [&](auto const& f) { CHECK_ALL(is_same(f, sharding)); };

  check([&](auto name) { return name(v); });
  check([&](auto name) {
    auto const s = name(v);
    return s * s + s;
  });
  check([&](auto name) {
    auto const s = name(u * v);
    return s(before) - s(inner) * s(after);
  });
  check([&](auto name) {
    auto const s = name(u * v);
    auto const t = name(u + s);
    return t(after) * t(before) + s(inner) - t(after);
  });
  check([&](auto name) {
    auto const s = name(u(range(none, none, -1)) * u);
    return s + s(range(none, none, -1)) - s;
  });
  check([&](auto name) {
    auto const s = name(v)(range(0, none, 3));
    return s + s;
  });
  check([&](auto name) {
    auto const s = name(v);
    return roll(s, 1) + roll(s, -1) - roll(s, 5) * roll(s, 13) + roll(s, 16) - roll(s, -40);
  });
  check([&](auto name) {
    auto const s = name(v + index(0));
    return shift(s, 1, reflect) + shift(s, -2, constant(7)) * shift(s, 3, edge) + s;
  });
  check([&](auto name) {
    auto const s = name(where(u > T(20), v, u));
    return where(s > roll(s, 1), s, roll(s, 1)) + s;
  });
}

/// The row of two lets, of cells at these distances from the first of `cells`.
using Leaf = detail::OperationRow<detail::Let, double, detail::UnitRow<double>>;
using Row = detail::OperationRow<detail::Add, double, Leaf, Leaf>;
Row row_of(std::array<double, 600> const& cells, std::int64_t a, std::int64_t b, Index const& of_a,
           Index const& of_b) {
  return {{{{cells.data() + a, &of_a}}}, {{{cells.data() + b, &of_b}}}};
}

}  // namespace

TEST_CASE("rows shorter and longer than a block") {
  for (std::int64_t const cells : {3, 17, 40, 241, 531})
    for (std::int64_t const devices : {1, 3, 8}) check_rows<double>(cells, over(devices));
}
TEST_CASE("elements of other types") {
  for (std::int64_t const cells : {7, 300}) {
    check_rows<float>(cells, over(2));
    check_rows<float16>(cells, over(2));
    check_rows<std::int32_t>(cells, over(2));
  }
  auto const z = full<std::complex<double>>({300}, {0.1, 0.7}, over(3));
  CHECK_ALL(is_same(
      [&](auto name) {
        auto const s = name(z * z + index(0));
        return s(before) * s(after) - s(inner);
      },
      over(3)));
  CHECK_ALL(is_same(
      [&](auto name) {
        auto const s = name(real(z) * index(0) < 10.0);
        return s(before) != s(inner);
      },
      over(3)));
}

TEST_CASE("functions in a let, and a let in functions") {
  for (std::int64_t const cells : {40, 700}) {
    auto const u = spread_out<double, 1>(scrambled<double>({cells}), over(3));
    CHECK_ALL(is_same(
        [&](auto name) {
          auto const s = name(exp(-u) + 1.0);
          return sin(s(before)) * sqrt(s(inner)) + pow(s(after), s(inner)) - cos(name(s(inner)));
        },
        over(3)));
    CHECK_ALL(is_same(
        [&](auto name) {
          auto const s = name(sin(name(u)) + name(u));
          auto const t = name(s * s + sin(name(u)));
          return t(before) + t(after) + s(inner) - s(after);
        },
        over(3)));
  }
}

TEST_CASE("sums over neighbours in planes and in space") {
  auto const plane = scrambled<double>({19, 270});
  for (auto const& sharding : test::layouts_of_plane(19, 270)) {
    CAPTURE(sharding);
    auto const u = spread_out<double, 2>(plane, sharding);
    auto const column_sums = [&](auto name) {
      auto const s = name(u(before, all) + u(inner, all) + u(after, all));
      return s(all, before) + s(all, inner) + s(all, after);
    };
    CHECK_ALL(is_same(column_sums));
    CHECK_ALL(is_same([&](auto name) { return transpose(column_sums(name)); }, over(1, 8)));
    CHECK_ALL(is_same(
        [&](auto name) {
          auto const s = name(0.5 * u * u);
          auto const t = name(s + roll(u, 1, 0));
          return shift(s, {1, 1}, periodic) - shift(s, {0, -1}, periodic) * s +
                 shift(s, {0, 1}, edge) + shift(s, {1, 0}, reflect) - roll(t, 1, 1) * t;
        },
        sharding));
  }
  auto const v =
      spread_out<double, 3>(scrambled<double>({6, 7, 40}), {test::row(3), P(none, "x", none)});
  CHECK_ALL(is_same(
      [&](auto name) {
        auto const s = name(v(before, inner, all) + v(after, inner, all) + v(inner, before, all));
        auto const t = name(v(inner, inner, all) * s);
        return s(all, all, before) * t(all, all, after) + t(all, all, inner) - s(all, all, after);
      },
      NamedSharding(test::row(3), P("x", none, none))));
}

TEST_CASE("in statements on the array itself, through masks and into members") {
  auto const start = scrambled<double>({300});
  auto const run = [&](auto name) {
    auto u = spread_out<double, 1>(start, over(3));
    for (int t = 0; t < 3; ++t) {
      auto const s = name(0.3 * u * u);
      u(inner) = 0.01 * (s(before) + s(after)) - 0.1 * s(inner);
      auto const r = name(u + 1.0);
      u(r > 1.5) = r * r - name(roll(r, 1));
      u += name(0.5 * u) * name(0.5 * u);
      u /= 100.0;
    }
    return u.to_host();
  };
  CHECK_ALL(test::same_bits(run(Named()), run(Plain())));

  struct Point {
    double x;
    double y;
  };
  auto points = full<Point>({300}, {0.1, 0.2}, over(3));
  auto const s = let(field<&Point::x>(points) * (0.5 + index(0)));
  field<&Point::y>(points) = s + roll(s, 1);
  DistArray const y = field<&Point::y>(points);
  CHECK_ALL(test::same_bits(
      y.to_host(),
      DistArray(0.1 * (0.5 + index(0)) + roll(0.1 * (0.5 + index(0)) + 0.0 * y, 1)).to_host()));
}

TEST_CASE("contract leaves a let as it is, and works inside one") {
  auto const p = 1 + 0x1p-30;
  auto const u = full<double>({300}, p, over(3));
  auto const rest = u * u - (1 + 0x1p-29);

  CHECK_ALL(test::holds(DistArray(contract(let(rest) + 0.0)), std::vector<double>(300, 0)));
  auto const s = let(contract(rest));
  CHECK_ALL(test::holds(DistArray(s + roll(s, 1)), std::vector<double>(300, 0x1p-59)));
}

TEST_CASE("reads near each other in a row share values, others do not") {
  std::array<double, 600> cells{};
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<double>(i);
  Index const one{600, 1}, other{300, 1};
  auto const shares = [&](std::int64_t a, std::int64_t b, Index const& of_b, std::int64_t count) {
    auto const row = row_of(cells, a, b, one, of_b);
    detail::Block<Row> block;
    detail::link_lets(block, row, count);
    auto const values = block.compute(row, 0, count);
    for (std::int64_t j = 0; j < count; ++j) CHECK(values(j) == static_cast<double>(a + b + 2 * j));
    return block.b.source == &block.a;
  };

  CHECK(shares(100, 100, one, 200));
  CHECK(shares(100, 101, one, 200));
  CHECK(shares(100, 84, one, 200));
  CHECK(shares(100, 102, one, 2));
  CHECK_FALSE(shares(100, 102, one, 1));  // the cell between them is not read
  CHECK_FALSE(shares(100, 117, one, 200));
  CHECK_FALSE(shares(100, 101, other, 200));  // the next row is elsewhere
}

TEST_SUITE_END();
