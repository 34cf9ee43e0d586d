#include <cstdint>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::Mirror;
using test::over;

/// u(mask) = value and u += value.
TEST_SUITE_BEGIN("expr/mask");

namespace {

using Integers = std::vector<std::int64_t>;

template <class F>
Mirror<double> changed(Mirror<double> const& m, F const& f) {
  return Mirror<double>::made_of(m.shape, [&](Index const& i) { return f(m.at(i), i); });
}

}  // namespace

TEST_CASE("only the cells of the mask are written, on any layout") {
  for (auto const& sharding : test::layouts_of_plane(5, 6)) {
    CAPTURE(sharding);
    auto m = test::scrambled<double>({5, 6});
    auto u = test::spread_out<double, 2>(m, sharding);
    auto const v = test::spread_out<double, 2>(m, over(3, 2));

    u(u > 50.0) = 0.0;
    m = changed(m, [](double x, Index const&) { return x > 50.0 ? 0.0 : x; });
    CHECK_ALL(holds(u, m));

    u(v < 30.0 && u > 0.0) += 0.25 * v;
    m = changed(m, [](double x, Index const&) { return x < 30.0 && x > 0.0 ? x + 0.25 * x : x; });
    CHECK_ALL(holds(u, m));

    u(range(1, 4), tessera::all)(index(1) % 2 == 0) *= 3;
    m = changed(m, [](double x, Index const& i) {
      return i[0] >= 1 && i[0] < 4 && i[1] % 2 == 0 ? x * 3 : x;
    });
    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("a mask that looks at its neighbours sees the cells as they were") {
  for (auto const& sharding : test::layouts_of_row(11)) {
    CAPTURE(sharding);
    auto m = test::scrambled<double>({11});
    auto u = test::spread_out<double, 1>(m, sharding);

    u(shift(u, 1, periodic) < u) = shift(u, 1, periodic);

    auto const before = m;
    for (std::int64_t i = 0; i < 11; ++i)
      m.at({i}) = std::min(before.at({i}), before.at({(i + 1) % 11}));
    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("a mask broadcasts, and may be an array of bools") {
  auto u = iota<std::int64_t>({3, 4}, over(2, 4));
  auto const columns = from_index<bool>({4}, over(3), [](auto i) { return i[0] % 2 == 1; });
  auto const rows = from_index<bool>({3}, over(2), [](auto i) { return i[0] == 2; });

  u(columns) = -1;
  u(rows(tessera::all, newaxis)) += 100;
  transpose(u)(rows) -= 1;

  CHECK_ALL(holds(u, Integers{0, -1, 2, -1, 4, -1, 6, -1, 107, 98, 109, 98}));
}

TEST_CASE("cells outside the mask keep their bits, whatever the value's type") {
  constexpr std::int64_t large = (std::int64_t{1} << 60) + 1;  // no double
  auto u = full<std::int64_t>({5}, large, over(3));

  u(index(0) == 2) = 7.9;
  u(index(0) == 3) = 0.5 * cast<double>(u);

  CHECK_ALL(holds(u, Integers{large, large, 7, std::int64_t{1} << 59, large}));
}

TEST_CASE("a mask or a value of another shape is refused and nothing changes") {
  auto u = iota<std::int64_t>({6}, over(4));
  auto const v = iota<std::int64_t>({5}, over(3));
  auto one = iota<std::int64_t>({1}, over(3));
  auto const before = counters();

  CHECK_ALL_THROW(u(v > 2) = 0, ShapeError);
  CHECK_ALL_THROW(u(u > 2) = v, ShapeError);
  CHECK_ALL_THROW(one.view({})(u > 2) = 0, ShapeError);
  CHECK_ALL_THROW(u(u > 2) += v, ShapeError);

  CHECK_ALL(counters() == before);
  CHECK_ALL(holds(u, Integers{0, 1, 2, 3, 4, 5}));
}

TEST_CASE("a masked write of an array's own cells sends nothing") {
  auto u = iota<double>({33}, over(8));

  auto const sent = test::sent_by([&] {
    u(u > 7.0) = 0.0;
    u(range(2, 20))(u(range(2, 20)) < 3.0) -= 1.0;
  });

  CHECK(sent.messages == 0);
}

TEST_CASE("compound assignment is the plain one with the target on the left") {
  auto u = iota<std::int64_t>({4}, over(3));
  auto const v = full<std::int64_t>({4}, 3, over(2));
  auto const part = u(from(2));

  u += v;  // 3 4 5 6
  u *= 2;  // 6 8 10 12
  part -= v(from(2));
  u(0) += 10;  // an element
  u %= 7;
  CHECK_ALL(holds(u, Integers{2, 1, 0, 2}));

  u |= 4;
  u &= 6;
  u ^= 1;
  CHECK_ALL(holds(u, Integers{7, 5, 5, 7}));

  auto w = full<double>({4}, 0.3, over(3));
  w /= u;
  w += 0.1 * w;
  CHECK_ALL(w.sharding() == over(3));
  CHECK_ALL(holds(w, std::vector<double>{0.3 / 7 + 0.1 * (0.3 / 7), 0.3 / 5 + 0.1 * (0.3 / 5),
                                         0.3 / 5 + 0.1 * (0.3 / 5), 0.3 / 7 + 0.1 * (0.3 / 7)}));
}

TEST_SUITE_END();
