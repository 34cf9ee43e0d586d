// Arrays that nobody names any more serve again; the new ones must not show it.

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/adopt.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("expr/renewed_arrays");

namespace {

// Where the cells of an array begin on this process; none where it holds none.
template <class T, std::size_t N>
std::vector<void const*> memory_of(DistArray<T, N> const& u) {
  std::vector<void const*> cells;
  for (auto const& shard : u.addressable_shards()) cells.push_back(shard.data());
  return cells;
}

std::vector<double> counted(double first) {
  std::vector<double> cells(11);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = first + static_cast<double>(i);
  return cells;
}

}  // namespace

TEST_CASE("the memory of an array that nobody names serves the next one that lies so") {
  std::vector<void const*> before;
  {
    auto const u = iota<double>({11}, over(3));
    before = memory_of(u);
  }
  DistArray<double, 1> v({11}, over(3));
  CHECK_ALL(memory_of(v) == before);
  auto const w = iota<double>({11}, over(3));
  CHECK_ALL((memory_of(w) != before || before.empty()));
  v = 2.0 * w;
  v = v - w + 5.0;
  CHECK_ALL(holds(v, counted(5)));
  CHECK_ALL(holds(w, counted(0)));
}

TEST_CASE("an array that a view still names keeps its cells") {
  auto u = iota<double>({11}, over(8));
  auto const seen = u(tessera::all);
  u = DistArray<double, 1>({11}, over(4));  // the view is all that names the old cells
  for (int k = 0; k < 20; ++k) {
    auto const other = full<double>({11}, 7.0 + k, over(8));
    CHECK_ALL(holds(other, std::vector<double>(11, 7.0 + k)));
  }
  CHECK_ALL(test::same_bits(seen.to_host(), counted(0)));
}

TEST_CASE("ghost cells and what they held do not outlive an array") {
  for (int k = 0; k < 4; ++k) {
    auto u = iota<double>({11}, over(4));
    u += 100.0 * k;
    DistArray<double, 1> const sums = roll(u, 1) + roll(u, -1);
    auto expected = std::vector<double>(11);
    for (std::size_t i = 0; i < 11; ++i)
      expected[i] = static_cast<double>((i + 10) % 11 + (i + 1) % 11) + 200.0 * k;
    CHECK_ALL(holds(sums, expected));
    u = sums;
    CHECK_ALL(holds(u, expected));
  }
}

TEST_CASE("arrays whose buffers were swapped an odd number of times serve again") {
  for (int k = 0; k < 7; ++k) {
    auto u = iota<double>({11}, over(3));
    DistArray<double, 1> next({11}, over(3));
    next = 1.0;
    for (int s = 0; s < k; ++s) next = u(range(none, none, -1)) + 0.0 * next;
    if (k > 0) {
      auto reversed = counted(0);
      std::reverse(reversed.begin(), reversed.end());
      CHECK_ALL(holds(next, reversed));
    }
    next(range(2, 5)) = -1.0;
    auto const kept = next;
    CHECK_ALL(holds(kept, next.to_host()));
  }
}

TEST_CASE("pinned memory is not given out again while it may be in use") {
  std::vector<void const*> before;
  {
    auto u = iota<double>({11}, over(3));
    pin(u);
    before = memory_of(u);
    auto const v = full<double>({11}, 1.0, over(3));
    CHECK_ALL((memory_of(v) != before || before.empty()));
  }
  auto const w = iota<double>({11}, over(3));
  CHECK_ALL(holds(w, counted(0)));
}

TEST_SUITE_END();
