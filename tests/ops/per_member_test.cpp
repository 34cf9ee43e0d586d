#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/ops/member_collectives.hpp"
#include "tessera/ops/per_device.hpp"

#include "members.hpp"

using namespace tessera;
using test::first_two;
using test::grid;
using test::hundreds;
using test::tens;

using Numbers = std::vector<std::int64_t>;

/// Functions of the caller on the values of each member.
TEST_SUITE_BEGIN("ops/per_member");

TEST_CASE("per_member runs a function on the values of each member of this process") {
  auto x = hundreds();
  auto const y = tens();
  per_member(
      [](Member const& m, ShardView<float, 2> const& own, ShardView<float const, 2> const& other) {
        own(2, 3) = -other(0, 0) - static_cast<float>(m.rank);
      },
      x, y);
  CHECK(x.to_host(0)[11] == -1);
  CHECK(all_gather(x, 0).to_host(0)[23] == -11);
  auto const copy = x;
  per_member([](Member const&, ShardView<float, 2> const& view) { view(0, 0) = 7; }, x);
  CHECK(copy.to_host(1)[0] == 100);
}

TEST_CASE("per_member leaves out members without a value, and takes each value once") {
  auto sum = reduce(tens(), 1);
  per_member([](Member const&, ShardView<float, 2> const& view) { view(0, 0) = 5; }, sum);
  CHECK(sum.to_host(1)[0] == 5);
  auto x = hundreds();
  CHECK_THROWS_WITH_AS(per_member([](auto const&...) {}, x, x),
                       "per_member got the same values twice, to be changed; give them once, or a "
                       "copy",
                       UsageError);
}

TEST_CASE("what a function returns are values, too") {
  auto const x = hundreds();
  PerDevice<float, 1> const last = per_member([](auto const& own) { return own(2, 3); }, x);
  CHECK(last.extents(1) == std::array<std::int64_t, 1>{1});
  CHECK(last.to_host(1)[0] == 111);
  CHECK(all_reduce(last).to_host(0)[0] == 122);

  auto const ranges = per_member(
      [](Member const& m, auto const& a, auto const& b) {
        return std::array<double, 3>{a(0, 0), b(0, 0), static_cast<double>(m.rank)};
      },
      x, tens());
  CHECK(ranges.to_host(1) == std::vector<double>{100, 10, 1});

  auto y = tens();
  auto const is_changed = per_member(
      [](ShardView<float, 2> const& own) {
        own(0, 0) = -1;
        return true;
      },
      y);
  CHECK(is_changed.to_host(0) == std::vector<bool>{true});
  CHECK(y.to_host(1)[0] == -1);
}

TEST_CASE("each member may return another number of cells") {
  // Members in two lists keep the numbers below their own.
  auto const x =
      per_device<std::int64_t>(grid().group("cp"), {4}, [](Member, auto i) { return i[0]; });
  auto const fewer = per_member(
      [](Member const& m, auto const& own) {
        Numbers result;
        for (std::int64_t i = 0; i < m.rank; ++i) result.push_back(own(i) + 10 * m.group);
        return result;
      },
      x);
  CHECK(fewer.extents(0, 1)[0] == 0);
  CHECK(fewer.to_host(3, 1) == Numbers{10, 11, 12});
  CHECK(all_gather(fewer, 0).to_host(0, 0) == Numbers{0, 0, 1, 0, 1, 2});

  auto const flags = per_member(
      [](Member const& m, auto const&) { return std::vector<bool>(m.rank == 1, true); }, x);
  CHECK(flags.to_host(1, 1) == std::vector<bool>{true});
}

TEST_CASE("members without a value return none") {
  auto const sum = reduce(tens(), 1);
  auto const first = per_member([](auto const& own) { return own(0, 0); }, sum);
  CHECK(first.to_host(1)[0] == 11);
  CHECK_THROWS_AS((void)first.to_host(0), UsageError);
  auto const row = per_member(
      [](auto const& own) {
        return std::vector<float>{own(0, 0), own(0, 1)};
      },
      sum);
  CHECK(row.to_host(1) == std::vector<float>{11, 22});
  CHECK(broadcast(row, 1).to_host(0) == std::vector<float>{11, 22});

  auto const other = reduce(tens(), 0);
  CHECK_THROWS_WITH_AS((void)per_member([](auto const&, auto const&) { return 1; }, sum, other),
                       "per_member: one value exists for rank 1 of Group(0, 1) alone, another for "
                       "rank 0; no member has both",
                       UsageError);
  per_member([](auto const&, auto const&) { FAIL("no member has both"); }, sum, other);
}

TEST_CASE("a barrier lets all members arrive") {
  barrier(Group({0}));
  barrier(grid().group("tp"));
  auto const said = explain([] { barrier(first_two()); });
  REQUIRE(said.statements.size() == 1);
  CHECK(std::string(said.statements[0].kind) == "barrier");
  CHECK_THROWS_AS(barrier(Group({0, 64})), ShardingError);
}

TEST_SUITE_END();
