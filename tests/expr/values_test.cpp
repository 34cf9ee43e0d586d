#include <optional>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// What an array, a view and an expression keep, and when they are read.
TEST_SUITE_BEGIN("expr/values");

namespace {

using Integers = std::vector<std::int64_t>;

auto counted() {
  return iota<std::int64_t>({6}, over(4));
}

}  // namespace

TEST_CASE("auto of a slice is a view and DistArray of a slice is a copy") {
  auto u = counted();
  auto const view = u(from(3));
  DistArray const copy = u(from(3));

  u = 7;

  CHECK_ALL(view.to_host() == Integers{7, 7, 7});
  CHECK_ALL(holds(copy, Integers{3, 4, 5}));
}

TEST_CASE("an expression is read when it is assigned") {
  auto u = counted();
  auto const doubled = 2 * u;
  u = 10;
  auto v = zeros<std::int64_t>({6}, over(3));

  v = doubled;

  CHECK_ALL(holds(v, Integers{20, 20, 20, 20, 20, 20}));
}

TEST_CASE("an expression outlives its array") {
  auto const expression = [] {
    auto const u = counted();
    return u(range(0, 5)) + shift(u(from(1)), 1, edge);
  }();
  auto v = zeros<std::int64_t>({5}, over(8));

  v = expression;
  CHECK_ALL(holds(v, Integers{2, 4, 6, 8, 9}));

  auto const view = [] { return counted()(range(none, none, 2)); }();
  CHECK_ALL(view.to_host() == Integers{0, 2, 4});
  view = 3;
  CHECK_ALL(view.to_host() == Integers{3, 3, 3});
}

TEST_CASE("an array may die while its statement is still queued") {
  auto v = zeros<std::int64_t>({6}, over(2));
  for (int k = 0; k < 50; ++k) {
    auto const u = full<std::int64_t>({6}, k, over(8));
    v = v + u + shift(u, 1, periodic);
  }

  CHECK_ALL(holds(v, Integers(6, 2 * 49 * 50 / 2)));
}

TEST_CASE("assigning an array writes the cells that old views show") {
  auto u = counted();
  auto const view = u(tessera::all);
  auto const alike = full<std::int64_t>({6}, 5, over(4));
  auto const elsewhere = full<std::int64_t>({6}, 8, over(3));

  u = alike;
  CHECK_ALL(view.to_host() == Integers(6, 5));

  u = elsewhere;
  CHECK_ALL(u.sharding() == over(4));
  CHECK_ALL(holds(u, Integers(6, 8)));
  CHECK_ALL(view.to_host() == Integers(6, 8));
}

TEST_CASE("moves, new shardings and arrays made on the spot replace an array and leave its views") {
  auto const elsewhere = full<std::int64_t>({6}, 8, over(3));
  auto const replaced_by = [&](auto const& assign) {
    auto u = counted();
    auto const view = u(tessera::all);
    assign(u);
    return u.sharding() == over(3) && holds(u, Integers(6, 8)) &&
           view.to_host() == Integers{0, 1, 2, 3, 4, 5};
  };

  CHECK_ALL(replaced_by([&](auto& u) { u = reshard(elsewhere, over(3)); }));
  CHECK_ALL(replaced_by([&](auto& u) { u = DistArray(elsewhere); }));
  CHECK_ALL(replaced_by([&](auto& u) { u = full<std::int64_t>({6}, 8, over(3)); }));
  CHECK_ALL(replaced_by([&](auto& u) {
    auto other = elsewhere;
    u = std::move(other);
  }));
}

TEST_CASE("an array of another shape is not assigned") {
  auto u = counted();
  auto const other = full<std::int64_t>({1}, 8, over(3));
  char const* const words =
      "an array of shape (1,) is assigned to one of shape (6,), which keeps its shape and its "
      "place; r = DistArray(u) replaces r by a copy of u, and r = 1 * u writes cells that "
      "broadcast";

  CHECK_THROWS_WITH_AS(u = other, words, ShapeError);
  CHECK_ALL(holds(u, Integers{0, 1, 2, 3, 4, 5}));
  u = 1 * other;
  CHECK_ALL(holds(u, Integers(6, 8)));

  (void)DistArray(std::move(u));
  u = other;
  CHECK_ALL(u.shape() == Shape{1});
  CHECK_ALL(u.sharding() == over(3));
}

TEST_CASE("assigning an expression keeps shape and sharding") {
  auto u = counted();
  auto const v = full<std::int64_t>({6}, 8, over(3));

  u = v + 0;

  CHECK_ALL(u.sharding() == over(4));
  CHECK_ALL(holds(u, Integers(6, 8)));
}

TEST_CASE("a copy shares nothing and a move takes everything") {
  auto u = counted();
  auto copy = u;
  auto const view = u(tessera::all);
  auto taken = std::move(u);

  copy = 1;
  taken(0) = 9;

  CHECK_ALL(holds(taken, Integers{9, 1, 2, 3, 4, 5}));
  CHECK_ALL(view.to_host() == Integers{9, 1, 2, 3, 4, 5});
  CHECK_ALL(holds(copy, Integers(6, 1)));
}

TEST_CASE("swapped arrays go on with each other's cells and buffers") {
  auto u = counted();
  auto v = full<std::int64_t>({6}, 1, over(4));
  for (int s = 0; s < 5; ++s) {
    v(range(1, -1)) = u(range(0, -2)) + u(from(2));
    v(0) = s;
    std::swap(u, v);
    u(from(4)) = u(range(1, 3));
    std::swap(u, v);
    std::swap(u, v);
  }

  Integers a{0, 1, 2, 3, 4, 5}, b(6, 1);
  for (int s = 0; s < 5; ++s) {
    for (std::size_t i = 1; i < 5; ++i) b[i] = a[i - 1] + a[i + 1];
    b[0] = s;
    std::swap(a, b);
    a[4] = a[1];
    a[5] = a[2];
  }
  CHECK_ALL(holds(u, a));
  CHECK_ALL(holds(v, b));
}

TEST_CASE("an array assigned to itself stays what it is") {
  auto u = counted();
  u(tessera::all) = u(tessera::all);
  u = 1 * u;
  u(range(2, 4)) = u(range(2, 4));
  CHECK_ALL(holds(u, Integers{0, 1, 2, 3, 4, 5}));
}

TEST_CASE("a single element is written by a statement and read by everybody") {
  auto u = counted();

  u(2) = u(-1) * 10;
  u(0) = -4;

  CHECK_ALL(static_cast<std::int64_t>(u(2)) == 50);
  CHECK_ALL(u(0) == -4);
  CHECK_ALL(holds(u, Integers{-4, 1, 50, 3, 4, 5}));
}

TEST_CASE("an element of one array is repeated over another") {
  auto u = counted();
  auto const v = iota<std::int64_t>({4, 4}, over(2, 4));

  u = u * v(1, 1) + v(-1, 0);

  CHECK_ALL(holds(u, Integers{12, 17, 22, 27, 32, 37}));
}

TEST_CASE("a new array lies where most of its expression lies") {
  auto const rows = iota<std::int64_t>({4, 6}, {test::row(4), P("x", none)});
  auto const copies = iota<std::int64_t>({4, 6}, {test::row(4), P(none, none)});

  DistArray const anchored = copies + rows;
  DistArray const column = rows(tessera::all, 2);
  DistArray const flat = rows(1, tessera::all);

  CHECK_ALL(anchored.sharding() == rows.sharding());
  CHECK_ALL(column.sharding() == NamedSharding(test::row(4), P("x")));
  CHECK_ALL(flat.sharding() == NamedSharding(test::row(4), P(none)));
  CHECK_ALL(holds(column, Integers{2, 8, 14, 20}));
  CHECK_ALL(holds(flat, Integers{6, 7, 8, 9, 10, 11}));
  CHECK_ALL(holds(DistArray(rows + 1, over(2, 2)), (rows.view({}) + 1).shape() == Shape{4, 6}
                                                       ? [] {
                                                           Integers v(24);
                                                           for (std::size_t i = 0; i < 24; ++i)
                                                             v[i] = static_cast<std::int64_t>(i) + 1;
                                                           return v;
                                                         }()
                                                       : Integers{}));
}

TEST_CASE("ghost cells may grow while views of the array are alive") {
  auto u = counted();
  auto const view = u(range(1, 5));
  auto v = zeros<std::int64_t>({6}, over(4));

  v = shift(u, 1, periodic);
  view = view + 10;
  v = v + shift(u, -1, periodic) + shift(u, 1, edge);

  CHECK_ALL(holds(u, Integers{0, 11, 12, 13, 14, 5}));
  CHECK_ALL(
      holds(v, Integers{1 + 5 + 11, 2 + 0 + 12, 3 + 11 + 13, 4 + 12 + 14, 5 + 13 + 5, 0 + 14 + 5}));
}

TEST_SUITE_END();
