#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"

#include "support/arrays.hpp"

// What an operation has made is written into an array that is there.

using namespace tessera;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("ops/results");

namespace {

using Integers = std::vector<std::int64_t>;

DistArray<std::int64_t, 2> counted() {
  return iota<std::int64_t>({2, 6}, NamedSharding(over(3).mesh(), P(none, "x")));
}

}  // namespace

TEST_CASE("an array keeps its place where the result of an operation is assigned") {
  auto const rows = counted();
  auto r = full<std::int64_t>({6}, 1, over(5));
  auto const view = r(tessera::all);
  auto const is_kept = [&](Integers const& cells) {
    return r.sharding() == over(5) && holds(r, cells) && view.to_host() == cells;
  };

  r = sum(rows, axis(0));
  CHECK_ALL(is_kept({6, 8, 10, 12, 14, 16}));
  r = reshape(rows(tessera::all, range(0, 3)), {6});
  CHECK_ALL(is_kept({0, 1, 2, 6, 7, 8}));
  r = concatenate(0, r(from(4)), r(range(0, 4)));
  CHECK_ALL(is_kept({7, 8, 0, 1, 2, 6}));
  r = repeat(rows(0, range(0, 2)), 3, 0);
  CHECK_ALL(is_kept({0, 0, 0, 1, 1, 1}));
  auto w = full<std::int64_t>({2, 6}, 1, over(4, 1));
  w = stack(0, r, r);
  CHECK_ALL(w.sharding() == over(4, 1));
}

TEST_CASE("a result becomes an array, and that replaces another one") {
  auto const rows = counted();
  auto r = full<std::int64_t>({4}, 1, over(5));
  DistArray sums = sum(rows, axis(0));
  auto const where = sums.sharding();

  r = std::move(sums);
  CHECK_ALL(r.sharding() == where);
  CHECK_ALL(holds(r, Integers{6, 8, 10, 12, 14, 16}));
  r = DistArray(reshape(rows, {3, 4})(0, tessera::all));
  CHECK_ALL(r.shape() == Shape{4});

  (void)DistArray(std::move(r));
  r = sum(rows, axis(1));
  CHECK_ALL(holds(r, Integers{15, 51}));
}

TEST_CASE("a result that has a name is an array to write to") {
  auto const rows = counted();
  auto r = sum(rows, axis(0));

  r(0) = 1;
  CHECK_ALL(holds(r, Integers{1, 8, 10, 12, 14, 16}));
  r = 2 * r;
  r += 1;
  CHECK_ALL(holds(r, Integers{3, 17, 21, 25, 29, 33}));
  r = full<std::int64_t>({6}, 7, over(5));
  CHECK_ALL(holds(r, Integers(6, 7)));
  r = sum(rows, axis(0));
  CHECK_ALL(holds(r, Integers{6, 8, 10, 12, 14, 16}));
  auto other = max(rows, axis(0));
  std::swap(r, other);
  CHECK_ALL(holds(other, Integers{6, 8, 10, 12, 14, 16}));
  CHECK_ALL(other.sharding() == over(5));
}

TEST_CASE("a result of another shape is not assigned") {
  auto r = full<std::int64_t>({4}, 1, over(3));
  auto w = full<std::int64_t>({2, 3}, 1, over(3, 1));

  CHECK_THROWS_AS(r = sum(counted(), axis(0)), ShapeError);
  CHECK_THROWS_AS(w = sum(counted(), axis(1).keep_dimensions()), ShapeError);
  CHECK_ALL(holds(r, Integers(4, 1)));
  CHECK_ALL(holds(w, Integers(6, 1)));
}

TEST_SUITE_END();
