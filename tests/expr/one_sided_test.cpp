#include "tessera/array/one_sided.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"

using namespace tessera;
using test::holds;
using test::over;
using test::sent_by;

/// Statements and epochs in turn: no stale ghost cell, no old buffer.
TEST_SUITE_BEGIN("expr/one_sided" * test::host_only());

namespace {

Range const inner = range(1, -1), left = range(0, -2), right = from(2);

void step(std::vector<double>& cells) {
  auto const old = cells;
  for (std::size_t i = 1; i + 1 < cells.size(); ++i) cells[i] = 0.3 * old[i - 1] + 0.6 * old[i + 1];
}

// Writes one cell in an epoch, and reads all.
std::vector<double> write_and_read(DistArray<double, 1>& u, std::int64_t i, double value) {
  fence(u);
  if (i % process_count() == process().value()) u.write({i}, value);
  fence(u);
  fence(u);
  auto const cells = u.read(Box{{0}, {u.extent(0)}});
  fence(u);
  return cells;
}

}  // namespace

TEST_CASE("ghost cells are filled again after an epoch") {
  auto u = iota<double>({41}, over(8));
  auto v = zeros<double>({41}, over(8));
  auto const read = [&] { v(inner) = u(left) + u(right); };
  fence(u);  // the first one moves the cells, and so makes all ghost cells stale
  fence(u);
  CHECK(sent_by(read).messages == 14);
  CHECK(sent_by(read).messages == 0);

  CHECK_ALL(write_and_read(u, 20, 0.7)[20] == 0.7);

  CHECK(sent_by(read).messages == 14);
  std::vector<double> expected(41);
  for (std::size_t i = 1; i < 40; ++i)
    expected[i] = i == 19 ? 18.7 : i == 21 ? 22.7 : 2 * static_cast<double>(i);
  CHECK(holds(v, expected));
}

TEST_CASE("epochs find the cells after every swap, and statements what epochs wrote") {
  auto u = iota<double>({41}, over(8));
  std::vector<double> expected(41);
  for (std::size_t i = 0; i < 41; ++i) expected[i] = static_cast<double>(i);

  for (std::int64_t round = 0; round < 6; ++round) {
    for (std::int64_t k = 0; k <= round % 3; ++k) {
      u(inner) = 0.3 * u(left) + 0.6 * u(right);
      step(expected);
    }
    auto const i = std::vector<std::int64_t>{5, 0, 40, 16, 39, 0}[static_cast<std::size_t>(round)];
    expected[static_cast<std::size_t>(i)] = 0.1 * static_cast<double>(round);
    CHECK_ALL(write_and_read(u, i, 0.1 * static_cast<double>(round)) == expected);
  }
  CHECK(holds(u, expected));
}

TEST_CASE("epochs find the cells after ghost cells were added around them") {
  auto u = iota<double>({6, 40}, over(2, 4));
  auto v = zeros<double>({6, 40}, over(2, 4));
  bool right_cells = true;

  for (std::int64_t k = 1; k < 5; ++k) {
    v = shift(u, {0, k}, periodic);
    auto const value_of = [k](std::int64_t j) { return static_cast<double>(1000 * k + j); };
    fence(u);
    for (std::int64_t j = 0; j < 40; ++j)
      if ((j + k) % process_count() == process().value()) u.write({5, j}, value_of(j));
    fence(u);
    fence(u);
    for (std::int64_t j = 0; j < 40; ++j)
      right_cells = right_cells && u.read({5, j}) == value_of(j);
    fence(u);
  }

  CHECK_ALL(right_cells);
}

TEST_CASE("a slice of an array is neither written nor read inside an epoch") {
  auto u = iota<double>({8}, over(8));
  auto v = zeros<double>({8}, over(8));

  fence(u);
  CHECK_ALL_THROW(u(inner) = 0.5, UsageError);
  CHECK_ALL_THROW(v(inner) = u(left) + u(right), UsageError);
  v(inner) = 2.0 * v(left);
  fence(u);

  CHECK(holds(u, std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_SUITE_END();
