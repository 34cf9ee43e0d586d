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
using test::scrambled;

TEST_SUITE_BEGIN("expr/copy");

namespace {

using Doubles = std::vector<double>;
using Plane = DistArray<double, 2>;

/// A plane on every device that has ghost cells, since its neighbours were read.
Plane with_ghosts(Mirror<double> const& mirror, NamedSharding const& sharding) {
  auto u = test::spread_out<double, 2>(mirror, sharding);
  Plane const sum = shift(u, {1, -2}, periodic) + shift(u, {-1, 1}, periodic);
  return u;
}

Mirror<double> transposed(Mirror<double> const& m) {
  return Mirror<double>::made_of({m.shape[1], m.shape[0]}, [&](Index const& i) {
    return m.at({i[1], i[0]});
  });
}

Mirror<double> plus_diagonal(Mirror<double> const& m) {
  return Mirror<double>::made_of(m.shape, [&](Index const& i) {
    return m.at(i) + m.at({(i[0] + 1) % m.shape[0], (i[1] + 1) % m.shape[1]});
  });
}

Range const from_two = range(2, 11);

}  // namespace

TEST_CASE("three cells of a page of paper are put where another layout has them") {
  auto const u = from_host(Doubles{1, 2, 3, 4, 5, 6}, {6}, over(2));
  auto v = zeros<double>({6}, over(3));

  v(range(0, 6, 2)) = u(range(none, none, -2));

  CHECK_ALL(holds(v, Doubles{6, 0, 4, 0, 2, 0}));
}

TEST_CASE("cells land between ghost cells, backwards and with dimensions dropped or exchanged") {
  auto const from = scrambled<double>({11, 9});
  auto const to = scrambled<double>({9, 12});
  for (auto const& source : {over(2, 4), over(8, 1)})
    for (auto const& target :
         {over(3, 2), NamedSharding(test::row(3), P("x", none), Cut::cyclic(2))}) {
      CAPTURE(source);
      CAPTURE(target);
      auto const u = with_ghosts(from, source);
      auto v = with_ghosts(to, target);
      auto expected = to;

      v(range(1, 9, 2), from_two) = u(range(10, 2, -2), range(9, none, -1));
      expected.assign({{1, 2, 4}, {2, 1, 9}}, from.slice({{10, -2, 4}, {8, -1, 9}}));
      CHECK_ALL(holds(v, expected));

      v(3, range(0, 9)) = u(7, tessera::all);
      expected.assign({{3, 1, 1}, {0, 1, 9}}, from.slice({{7, 1, 1}, {0, 1, 9}}));
      CHECK_ALL(holds(v, expected));

      v(tessera::all, range(0, 11)) = transpose(u);
      expected.assign({{0, 1, 9}, {0, 1, 11}}, transposed(from));
      CHECK_ALL(holds(v, expected));

      Plane const sum = v + shift(v, {1, 1}, periodic);
      CHECK_ALL(holds(sum, plus_diagonal(expected)));
    }
}

TEST_CASE("cells rolled further than ghost cells reach land where they belong") {
  auto const m = scrambled<double>({17});
  auto const u = test::spread_out<double, 1>(m, over(4));
  auto v = zeros<double>({17}, over(3));

  v = roll(u, 9, 0);

  CHECK_ALL(holds(
      v, Mirror<double>::made_of({17}, [&](Index const& i) { return m.at({(i[0] + 8) % 17}); })));
}

TEST_SUITE_END();
