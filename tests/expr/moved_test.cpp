#include <doctest/doctest.h>

#include "tessera/array/field.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Slices, transposes and shifts of expressions show what those of the evaluated expression show.
TEST_SUITE_BEGIN("expr/moved");

namespace {

// True if f shows of an expression what it shows of the array of its values.
template <class E, class F>
bool same_as_evaluated(E const& e, NamedSharding const& sharding, F const& f) {
  DistArray const whole(e, sharding);
  auto const shown = f(whole);
  using Shown = std::remove_cvref_t<decltype(shown)>;
  auto const moved = f(e);
  if (!(moved.shape() == shown.shape())) return false;
  if constexpr (Shown::rank == 0) {
    return static_cast<typename E::value_type>(moved) == static_cast<typename E::value_type>(shown);
  } else {
    NamedSharding const whole_everywhere(sharding.mesh(),
                                         PartitionSpec(std::vector<SpecEntry>(Shown::rank, none)));
    DistArray const expected(shown, whole_everywhere);
    DistArray const got(moved, whole_everywhere);
    return test::same_bits(got.to_host(), expected.to_host());
  }
}

Range const reversed = range(none, none, -1);

struct Point {
  double x;
  double y;
};

}  // namespace

TEST_CASE("slices of an expression are slices of its values") {
  auto const line = test::scrambled<double>({6});
  auto const plane = test::scrambled<double>({5, 6});
  for (auto const& of_plane : test::layouts_of_plane(5, 6))
    for (auto const& of_line : {over(3), over(8)}) {
      CAPTURE(of_plane);
      auto const a = test::spread_out<double, 2>(plane, of_plane);
      auto const v = test::spread_out<double, 1>(line, of_line);
      auto const column = a(tessera::all, range(2, 3));
      auto const check = [&](auto const& e) {
        auto const all_same = [&](auto const&... f) {
          return (same_as_evaluated(e, of_plane, f) && ...);
        };
        CHECK_ALL(
            all_same([](auto const& u) { return u(range(1, none), tessera::all); },
                     [](auto const& u) { return u(range(1, -1), range(none, none, 2)); },
                     [](auto const& u) { return u(reversed, range(4, 1, -2)); },
                     [](auto const& u) { return u(2, tessera::all); },
                     [](auto const& u) { return u(tessera::all, -1); },
                     [](auto const& u) { return u(3, 4); },
                     [](auto const& u) { return u(range(2, 2), tessera::all); },
                     [](auto const& u) { return u(tessera::all, newaxis, range(1, 3)); },
                     [](auto const& u) { return u(newaxis, 1, reversed); },
                     [](auto const& u) { return u(range(1, none), tessera::all)(reversed, 1); }));
        CHECK_ALL(all_same([](auto const& u) { return transpose(u); },
                           [](auto const& u) { return transpose(u)(range(1, none), 2); },
                           [](auto const& u) { return transpose(u(newaxis, tessera::all, 1)); },
                           [](auto const& u) { return flip(u); },
                           [](auto const& u) { return flip(u, 1)(tessera::all, range(0, 2)); }));
      };
      check(a + v);
      check(2.0 * a - column);
      check(where(a > v, a, 1.0) * column);
      check(a + v(reversed) * index(1) - 10.0 * index(0));
      check(transpose(transpose(a + v) * index(1)) + v);
    }
}

TEST_CASE("slices of shifted arrays stay within what they show") {
  auto const plane = test::scrambled<double>({5, 6});
  for (auto const& sharding : test::layouts_of_plane(5, 6)) {
    CAPTURE(sharding);
    auto const a = test::spread_out<double, 2>(plane, sharding);
    auto const check = [&](auto const& e) {
      auto const all_same = [&](auto const&... f) {
        return (same_as_evaluated(e, sharding, f) && ...);
      };
      CHECK_ALL(all_same([](auto const& u) { return u(range(1, none), tessera::all); },
                         [](auto const& u) { return u(range(0, 3), range(2, none)); },
                         [](auto const& u) { return u(reversed, tessera::all); },
                         [](auto const& u) { return u(range(3, none, -1), reversed); },
                         [](auto const& u) { return u(range(1, 3), range(2, 4))(0, reversed); },
                         [](auto const& u) { return u(2, newaxis, tessera::all); },
                         [](auto const& u) { return transpose(u); },
                         [](auto const& u) { return u(range(2, 2), 3); }));
    };
    check(shift(a, {1, -2}, edge));
    check(shift(a, {-1, 1}, reflect) + 1.0);
    check(shift(a, {2, -1}, symmetric) * 2.0);
    check(shift(a, {1, -2}, periodic));
    check(shift(a, {1, -2}, {Boundaries(constant(1), constant(2)), Boundaries(constant(3), edge)}));
  }
}

TEST_CASE("an integer drops a dimension of a shifted array also where it looks past the edge") {
  auto const u = iota<double>({3, 4}, over(2, 2));
  auto w = zeros<double>({4}, over(3));

  w = shift(u, {1, 0}, periodic)(2, tessera::all);
  CHECK_ALL(holds(w, std::vector<double>{0, 1, 2, 3}));
  w = shift(u, {2, 0}, reflect)(2, tessera::all);
  CHECK_ALL(holds(w, std::vector<double>{0, 1, 2, 3}));
  w = shift(u, {2, 0}, symmetric)(-1, tessera::all);
  CHECK_ALL(holds(w, std::vector<double>{4, 5, 6, 7}));
  w = shift(u, {-1, 0}, edge)(0, tessera::all);
  CHECK_ALL(holds(w, std::vector<double>{0, 1, 2, 3}));
  CHECK_ALL_THROW(w = shift(u, {1, 0}, constant(7))(2, tessera::all), UsageError);
  CHECK_ALL_THROW(w(range(0, 2)) = shift(u, {0, 1}, edge)(0, range(1, none, 2)), UsageError);
}

TEST_CASE("shifts of an expression are shifts of its values") {
  auto const line = test::scrambled<double>({6});
  auto const plane = test::scrambled<double>({5, 6});
  for (auto const& of_plane : test::layouts_of_plane(5, 6)) {
    CAPTURE(of_plane);
    auto const a = test::spread_out<double, 2>(plane, of_plane);
    auto const v = test::spread_out<double, 1>(line, over(3));
    auto const column = a(tessera::all, range(2, 3));
    auto const check = [&](auto const& e) {
      auto const all_same = [&](auto const&... f) {
        return (same_as_evaluated(e, of_plane, f) && ...);
      };
      CHECK_ALL(all_same([](auto const& u) { return roll(u, 1); },
                         [](auto const& u) { return roll(u, -8, 1); },
                         [](auto const& u) {
                           return shift(u, {1, -2}, edge);
                         },
                         [](auto const& u) {
                           return shift(u, {-7, 2}, reflect);
                         },
                         [](auto const& u) {
                           return shift(u, {1, 13}, symmetric);
                         },
                         [](auto const& u) {
                           return shift(u, {1, -2}, constant(7));
                         },
                         [](auto const& u) {
                           return shift(u, {0, 9}, constant(0.5));
                         }));
      CHECK_ALL(all_same(
          [](auto const& u) {
            return shift(
                u, {1, -1},
                {Boundaries(constant(1), constant(2)), Boundaries(constant(3), constant(4))});
          },
          [](auto const& u) {
            return shift(u, {-1, 2}, {periodic, Boundaries(constant(3), edge)});
          },
          [](auto const& u) {
            return shift(u, {-1, 2}, constant(3))(range(0, 2), reversed);
          },
          [](auto const& u) {
            return transpose(shift(u, {1, 1}, {constant(3), constant(4)}));
          }));
    };
    check(a * v);
    check(column - 0.5 * v);
    check(where(a > v, a, 1.0));
    check(a + v * index(1) - 10.0 * index(0));
  }
}

TEST_CASE("only periodic shifts are shifted again") {
  auto const u = iota<double>({5}, over(3));
  auto w = zeros<double>({5}, over(2));

  w = shift(2.0 * roll(u, 1), 2, periodic);
  CHECK_ALL(holds(w, std::vector<double>{2, 4, 6, 8, 0}));
  w = shift(roll(u, 1), -1, periodic);
  CHECK_ALL(holds(w, std::vector<double>{3, 4, 0, 1, 2}));
  CHECK_ALL_THROW(w = shift(shift(u, 1, edge) + u, 1, edge), UsageError);
  CHECK_ALL_THROW(w = shift(2.0 * u, 1, Boundary(constant(1))), UsageError);
  CHECK_ALL_THROW(w = shift(u + index(0), 1, {reflect, symmetric}), UsageError);
}

TEST_CASE("a moved expression reads its arrays as if each of them had been moved") {
  auto const u = iota<double>({32}, over(4));
  auto const v = iota<double>({32}, over(4));
  auto w = zeros<double>({32}, over(4));

  auto const moved = test::sent_by([&] { w = roll(u * v, 1); });
  auto const by_hand = test::sent_by([&] { w = roll(u, 2) * roll(v, 2); });
  auto const slices = test::sent_by([&] { w(range(1, none)) = (u + v)(range(0, -1)); });

  CHECK(moved.messages == 4);
  CHECK(by_hand.messages == 4);
  CHECK(moved.statements == by_hand.statements);
  CHECK(slices.messages == 0);  // the ghost cells are still there
}

TEST_CASE("members of structs are shifted and sliced as other expressions") {
  auto const u = from_index<Point>({4}, over(3), [](auto i) {
    return Point{static_cast<double>(i[0]), 10.0 * static_cast<double>(i[0])};
  });
  auto w = zeros<double>({4}, over(2));

  w = shift(field<&Point::y>(u), 1, constant(-1)) + field<&Point::x>(u);
  CHECK_ALL(holds(w, std::vector<double>{10, 21, 32, 2}));
  w(range(0, 2)) = field<&Point::y>(shift(u, 1, edge))(range(2, none));
  CHECK_ALL(holds(w, std::vector<double>{30, 30, 32, 2}));
}

TEST_CASE("an element of an expression is its value") {
  auto const u = iota<double>({5}, over(3));

  double const sum = (u + 2.0 * u)(3);
  double const chosen = where(u > 2.0, u, -u)(-1);
  double const shifted = shift(u * u, 1, periodic)(4);

  CHECK(sum == 9.0);
  CHECK(chosen == 4.0);
  CHECK(shifted == 0.0);
}

TEST_SUITE_END();
