#include "tessera/array/rank_zero.hpp"

#include <cstdint>
#include <sstream>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/print.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Arrays without dimensions.
TEST_SUITE_BEGIN("expr/rank_zero");

namespace {

using Doubles = std::vector<double>;

}  // namespace

TEST_CASE("one cell is written, read and broadcast") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto u = iota<double>({5}, over(devices));
    DistArray<double, 0> rate({}, {test::row(devices), P()});

    rate = 0.5;
    u -= rate * 2.0;
    CHECK_ALL(holds(u, Doubles{-1, 0, 1, 2, 3}));
    rate *= 3;
    CHECK_ALL(rate == 1.5);
    CHECK_ALL(static_cast<double>(rate) == 1.5);
    CHECK_ALL(rate.to_host() == Doubles{1.5});
    CHECK_ALL(rate.shape().empty());
    CHECK_ALL(rate.size() == 1);
    rate = u(4) - u(1);
    CHECK_ALL(rate == 3.0);
    u(2) = rate;
    u(range(3, 5)) = where(rate > 2, rate, 0.0);
    CHECK_ALL(holds(u, Doubles{-1, 0, 3, 3, 3}));
  }
}

TEST_CASE("copies copy, moves move, and expressions make new ones") {
  auto const u = iota<std::int32_t>({6}, over(8));
  DistArray a = u(4) * 2;
  static_assert(std::is_same_v<decltype(a), DistArray<std::int32_t, 0>>);
  DistArray b = a;
  a = 7;
  auto c = std::move(b);

  CHECK_ALL(a == 7);
  CHECK_ALL(c == 8);
  CHECK_ALL_THROW((void)b.sharding(), UsageError);
  b = a;
  CHECK_ALL(b == 7);
  b = full<std::int32_t>(3, {test::row(2), P()});
  CHECK_ALL(b == 3);
  CHECK_ALL(b.sharding() != a.sharding());
}

TEST_CASE("a cell is on every device of its mesh, and read without a message there") {
  auto const rate = full(0.25, {test::row(8), P()});
  auto u = zeros<double>({16}, over(8));

  auto const sent = test::sent_by([&] { u = rate + 1.0; });

  CHECK(sent.messages == 0);
  CHECK_ALL(holds(u, Doubles(16, 1.25)));
  std::ostringstream out;
  out << rate;
  if (process().value() == 0) CHECK(out.str().starts_with("0.25\nfloat64 () on "));
}

TEST_CASE("dimensions and cuts do not fit an array that has none") {
  CHECK_ALL_THROW((DistArray<double, 0>({3}, {test::row(2), P()})), ShapeError);
  CHECK_ALL_THROW((DistArray<double, 0>({}, {test::row(2), P("x")})), ShardingError);
  CHECK_ALL_THROW(((void)full(1.0, over(2))), ShardingError);
}

TEST_SUITE_END();
