#include <array>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/adopt.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/plan/access.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;

/// Several operands of one array, whose cells come once to the device that reads them.
TEST_SUITE_BEGIN("expr/united");

namespace {

// Cells with values of their own, small enough for sums of a few times a hundred to be exact.
test::Mirror<std::int64_t> numbered(Shape const& shape) {
  std::int64_t next = 0;
  return test::Mirror<std::int64_t>::made_of(shape, [&next](Index const&) { return ++next; });
}

// What a target of this shape holds if each cell is `value(i, j)`.
template <class Value>
std::vector<std::int64_t> cells_of(std::int64_t rows, std::int64_t columns, Value const& value) {
  std::vector<std::int64_t> cells;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) cells.push_back(value(i, j));
  return cells;
}

}  // namespace

TEST_CASE("a periodic stencil from any layout into any other") {
  constexpr std::int64_t rows = 6, columns = 9;
  auto const m = numbered({rows, columns});
  auto const at = [&](std::int64_t i, std::int64_t j) {
    return m.cells[static_cast<std::size_t>((i + rows) % rows * columns + (j + columns) % columns)];
  };
  auto const expected = cells_of(rows, columns, [&](std::int64_t i, std::int64_t j) {
    return at(i, j) + 100 * at(i - 1, j) + 10'000 * at(i + 1, j) + 1'000'000 * at(i, j - 1) +
           100'000'000 * at(i, j + 1);
  });
  for (auto const& from : test::layouts_of_plane(rows, columns))
    for (auto const& to : test::layouts_of_plane(rows, columns)) {
      CAPTURE(from);
      CAPTURE(to);
      auto const u = test::spread_out<std::int64_t, 2>(m, from);
      auto v = zeros<std::int64_t>({rows, columns}, to);

      v = u + 100 * shift(u, {-1, 0}, periodic) + 10'000 * shift(u, {1, 0}, periodic) +
          1'000'000 * shift(u, {0, -1}, periodic) + 100'000'000 * shift(u, {0, 1}, periodic);

      CHECK_ALL(holds(v, expected));
    }
}

TEST_CASE("all cells of an array, every second and every third one in one statement") {
  constexpr std::int64_t extent = 31, count = 10;
  auto const m = numbered({extent});
  auto const at = [&](std::int64_t i) { return m.cells[static_cast<std::size_t>(i)]; };
  auto const expected = cells_of(1, count, [&](std::int64_t, std::int64_t i) {
    return at(i + 2) + 100 * at(2 * i) + 10'000 * at(2 * i + 1) + 1'000'000 * at(3 * i + 1) +
           100'000'000 * at(30 - 2 * i);
  });
  for (auto const& from : test::layouts_of_row(extent))
    for (auto const& to : test::layouts_of_row(count)) {
      CAPTURE(from);
      CAPTURE(to);
      auto const u = test::spread_out<std::int64_t, 1>(m, from);
      auto v = zeros<std::int64_t>({count}, to);

      v = u(range(2, 12)) + 100 * u(range(0, 20, 2)) + 10'000 * u(range(1, 21, 2)) +
          1'000'000 * u(range(1, 31, 3)) + 100'000'000 * u(range(30, 10, -2));

      CHECK_ALL(holds(v, expected));
    }
}

TEST_CASE("a row and a column that cross far from full") {
  constexpr std::int64_t extent = 60;
  auto const m = numbered({extent, extent});
  auto const at = [&](std::int64_t i, std::int64_t j) {
    return m.cells[static_cast<std::size_t>(i * extent + j)];
  };
  auto const expected = cells_of(
      1, extent, [&](std::int64_t, std::int64_t i) { return at(7, i) + 10'000 * at(i, 9); });
  for (auto const& from : test::layouts_of_plane(extent, extent))
    for (auto const& to :
         {test::over(1), test::over(3), NamedSharding(Mesh({{"a", 2}, {"b", 4}}), P(none))}) {
      CAPTURE(from);
      CAPTURE(to);
      auto const u = test::spread_out<std::int64_t, 2>(m, from);
      auto v = zeros<std::int64_t>({extent}, to);

      v = u(7, tessera::all) + 10'000 * u(tessera::all, 9);

      CHECK_ALL(holds(v, expected));
    }
}

TEST_CASE("views that wrap around differently, forwards and backwards") {
  constexpr std::int64_t extent = 16;
  auto const m = numbered({extent});
  auto const at = [&](std::int64_t i) { return m.cells[static_cast<std::size_t>(i)]; };
  auto const around = [&](std::int64_t first, std::int64_t count, std::int64_t i) {
    return at(first + (i + count) % count);
  };
  for (auto const& from : test::layouts_of_row(extent))
    for (auto const& to : test::layouts_of_row(5)) {
      CAPTURE(from);
      CAPTURE(to);
      auto const u = test::spread_out<std::int64_t, 1>(m, from);
      auto v = zeros<std::int64_t>({5}, to);

      v = shift(u(range(9, 4, -1)), -1, periodic) + 1000 * shift(u(range(9, 14)), 1, periodic);
      CHECK_ALL(holds(v, cells_of(1, 5, [&](std::int64_t, std::int64_t i) {
                        return at(9 - (i + 4) % 5) + 1000 * around(9, 5, i + 1);
                      })));

      v = u(range(0, 5)) + 1000 * shift(u(range(5, 10)), -1, periodic);
      CHECK_ALL(holds(v, cells_of(1, 5, [&](std::int64_t, std::int64_t i) {
                        return at(i) + 1000 * around(5, 5, i - 1);
                      })));

      v = u(range(10, 15)) + 1000 * shift(u(range(5, 10)), 2, periodic) +
          1'000'000 * shift(u(range(4, 9)), 2, periodic);
      CHECK_ALL(holds(v, cells_of(1, 5, [&](std::int64_t, std::int64_t i) {
                        return at(10 + i) + 1000 * around(5, 5, i + 2) +
                               1'000'000 * around(4, 5, i + 2);
                      })));
    }
}

TEST_CASE("an array that is overwritten by what it reads of itself far away") {
  constexpr std::int64_t extent = 23;
  for (auto const& sharding : test::layouts_of_row(extent)) {
    CAPTURE(sharding);
    auto const m = numbered({extent});
    auto u = test::spread_out<std::int64_t, 1>(m, sharding);
    auto const at = [&](std::int64_t i) { return m.cells[static_cast<std::size_t>(i % extent)]; };

    u = shift(u, 11, periodic) + 100 * shift(u, 12, periodic) + 10'000 * u(range(none, none, -1));

    CHECK_ALL(holds(u, cells_of(1, extent, [&](std::int64_t, std::int64_t i) {
                      return at(i + 11) + 100 * at(i + 12) + 10'000 * at(extent - 1 - i);
                    })));
  }
}

TEST_CASE("each slice that reads cells of others is a gather, whichever brings them") {
  auto u = iota<double>({12}, test::over(4));
  pin(u);
  auto v = zeros<double>({12}, test::over(4));
  auto const gathers_of = [&](auto const& statement) {
    CommunicationBudget const budget({.gathers = 9});
    statement();
    return budget.used().gathers;
  };

  CHECK(gathers_of([&] { v = u + shift(u, 1, periodic); }) == 1);
  CHECK(gathers_of([&] { v = shift(u, 8, periodic) + shift(u, -8, periodic); }) == 2);
  CHECK(gathers_of([&] { v = shift(u, 8, constant(0)) + shift(u, -8, constant(0)); }) == 2);
  CHECK(gathers_of([&] { v = u + shift(u, 1, periodic) + u(range(none, none, -1)); }) == 2);
}

TEST_SUITE_END();
