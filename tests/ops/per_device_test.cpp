#include "tessera/ops/per_device.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/ops/member_collectives.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/runtime/statement_hooks.hpp"

#include "support/agree.hpp"
#include "support/arrays.hpp"
#include "support/left_out.hpp"
#include "support/shards.hpp"

#include "members.hpp"

using namespace tessera;
using test::both_rows;
using test::device_plus_one;
using test::eleven_times;
using test::first_two;
using test::grid;
using test::hundreds;
using test::sent_by;
using test::tens;

using Numbers = std::vector<std::int64_t>;

/// Values of each member: from arrays, to arrays, and under functions of the caller.
TEST_SUITE_BEGIN("ops/per_device");

namespace {

// Where this process's shards lie.
template <class T, std::size_t N>
std::vector<T const*> first_cells(DistArray<T, N> const& array) {
  std::vector<T const*> addresses;
  for (auto const& shard : array.addressable_shards()) addresses.push_back(shard.data());
  return addresses;
}

}  // namespace

TEST_CASE("as_array lays the values side by side") {
  auto u = as_array(hundreds(), 0);
  CHECK(u.shape() == Shape{6, 4});
  CHECK(u.to_host()[12] == 100);
  auto const values = hundreds();
  CHECK(as_array(values, 1).to_host() == both_rows);
  CHECK(values.to_host(1)[0] == 100);

  auto x = hundreds();
  CHECK(sent_by([&] { u = as_array(std::move(x), 1); }).messages == 0);
  CHECK(u.to_host() == both_rows);
  CHECK_THROWS_WITH_AS((void)x.group(),
                       "these values were moved from; assign others before they are used",
                       UsageError);
  u = shift(u, {0, 1}, constant(-1)) + 0.0F;
  CHECK(u.to_host()[4] == 101);
}

TEST_CASE("local shows what each device holds of an array, and leads there and back") {
  NamedSharding const rows(Mesh({{"x", 3}}), P("x", none));
  auto u = iota<double>({7, 2}, rows);
  auto const cells = u.to_host();

  auto const x = local(u, "x");
  CHECK(x.extents(0) == std::array<std::int64_t, 2>{3, 2});
  CHECK(x.to_host(2) == std::vector<double>{10, 11, 12, 13});
  CHECK(as_array(x, 0).to_host() == cells);

  auto const before = first_cells(u);
  auto const sent = sent_by([&] { u = as_array(local(std::move(u), "x"), 0); });
  CHECK_ALL(first_cells(u) == before);
  CHECK(sent.messages == 0);
  CHECK(u.to_host() == cells);
  auto const moved = local(u = shift(u, {1, 0}, constant(0)), "x");  // u now has ghost cells
  CHECK(moved.to_host(2) == std::vector<double>{12, 13, 0, 0});

  auto const copies = local(iota<double>({4}, {grid(), P("tp")}), "tp");
  CHECK(copies.group() == grid().group("tp"));
  CHECK(copies.to_host(1, 3) == std::vector<double>{2, 3});
  CHECK(all_gather(copies, 0).to_host(0, 2) == std::vector<double>{0, 1, 2, 3});
}

TEST_CASE("a process may still name cells that the others give away") {
  auto u = iota<double>({6, 2}, {Mesh({{"x", 3}}), P("x", none)});
  auto const cells = u.to_host();
  std::optional<decltype(u(0, all))> row;
  if (process().value() == 0) row = u(0, all);

  auto x = local(std::move(u), "x");
  CHECK(x.to_host(1) == std::vector<double>{4, 5, 6, 7});
  CHECK(as_array(std::move(x), 1).to_host()[2] == 4);
}

TEST_CASE("a call that is refused leaves its operand alone") {
  auto x = hundreds();
  CHECK_THROWS_AS((void)as_array(std::move(x), 9), ShapeError);
  CHECK(x.to_host(1)[0] == 100);  // NOLINT(bugprone-use-after-move)
  auto u = iota<double>({6}, {Mesh({{"x", 3}}), P("x")});
  CHECK_THROWS_AS((void)local(std::move(u), "model"), ShardingError);
  CHECK(u.to_host()[5] == 5);  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("as_partial makes partial results of the values") {
  CHECK(as_partial(tens()).to_host() == eleven_times(1, 12));
  auto const x = device_plus_one(grid().group("tp"));
  auto const sums = as_partial(x);
  CHECK(sums.sharding() == NamedSharding(grid(), P("cp").partial("tp")));
  CHECK(sums.to_host() == Numbers{3, 7, 11, 15});
  CHECK(as_partial<ReduceOp::max>(device_plus_one(grid().group("tp"))).to_host() ==
        Numbers{2, 4, 6, 8});
}

TEST_CASE("memory that is used again shows the cells of its new values") {
  for (int n = 0; n < 3; ++n) {
    auto x = per_device<float>(first_two(), {3, 4}, [&](Member m, auto i) {
      return static_cast<float>(100 * m.rank + 4 * i[0] + i[1] + n);
    });
    CHECK(all_gather(x, 1).to_host(1)[4] == static_cast<float>(100 + n));
    auto u = as_array(std::move(x), 0);
    u = roll(u, 1, 1);  // written to a second buffer, which then holds the array
    CHECK(u.to_host()[13] == static_cast<float>(100 + n));
  }
  for (int n = 0; n < 4; ++n) {
    auto const x = per_device<float>(first_two(), {3, 4}, [&](Member, auto i) {
      return static_cast<float>(10 * i[0] + i[1] + 100 * n);
    });
    auto u = as_array(broadcast(x, 0), 0);
    u(all, range(1, -1)) = u(all, range(0, -2)) + 0.5F;  // the other columns stay as they were
    CHECK(u.to_host()[7] == static_cast<float>(13 + 100 * n));
  }
}

TEST_CASE("as_copies makes copies of equal values") {
  auto const sum = all_reduce(tens());
  auto u = as_copies(sum);
  CHECK(u.to_host() == eleven_times(1, 12));
  u = u + 1.0F;
  CHECK(sum.to_host(1)[0] == 11);

  auto const of_lists = [] { return all_reduce(device_plus_one(grid().group("tp"))); };
  CHECK(as_copies(of_lists()).sharding() == NamedSharding(grid(), P("cp")));
  CHECK(as_copies(of_lists()).to_host() == Numbers{3, 7, 11, 15});

  CHECK_ALL_THROW((void)as_copies(reduce(tens(), 1)), UsageError);
  auto copies = iota<double>({4, 3}, {grid(), P("cp", none)});
  auto const before = first_cells(copies);
  copies = as_copies(local(std::move(copies), "tp"));
  CHECK_ALL(first_cells(copies) == before);  // no cell was copied
  CHECK(copies.to_host()[11] == 11);

  // Lists of other extents, along the second dimension.
  auto const rows = per_device<int>(
      Group::lists({{0, 1}, {2, 5}}),
      [](Member m) {
        return std::array<std::int64_t, 2>{2, 1 + m.group};
      },
      [](Member m, auto i) { return 10 * m.group + i[0]; });
  CHECK(as_copies(rows, -1).to_host() == std::vector<int>{0, 10, 10, 1, 11, 11});
}

TEST_CASE("copies that differ are found by TESSERA_CHECK=communication") {
  if (test::left_out_if(!detail::checks_communication(), "it needs TESSERA_CHECK")) return;
  CHECK(as_copies(all_gather(hundreds(), 0)).to_host()[12] == 100);
  CHECK(as_copies(per_device<int>(Group({3}), {2}, [](Member, auto) { return 4; })).to_host() ==
        std::vector<int>{4, 4});
  CHECK_THROWS_WITH_AS((void)as_copies(hundreds()),
                       "as_copies: members of Group(0, 1) have different values, found by "
                       "TESSERA_CHECK=communication; broadcast one of them, or take as_array",
                       UsageError);
  auto x = tens();
  CHECK_THROWS_AS((void)as_copies(std::move(x)), UsageError);
  CHECK(x.to_host(0)[0] == 1);  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("a value of rows that go to all members, with a term of each added") {
  // The rows of a matrix go to two devices, each adds a row, and all get the whole.
  Mesh const mesh({{"x", 2}});
  auto const group = mesh.group("x");
  auto const x =
      per_device<double>(group, {2, 2}, [](Member, auto i) { return 2 * i[0] + i[1] + 1; });
  auto rows = scatter(x, 0, 0);
  per_member(
      [](ShardView<double, 2> const& row) {
        row(0, 0) += 10;
        row(0, 1) += 20;
      },
      rows);
  for (std::int64_t rank = 0; rank < 2; ++rank)
    CHECK(all_gather(rows, 0).to_host(rank) == std::vector<double>{11, 22, 13, 24});
}

TEST_CASE("what is added to a sum of members is added once") {
  Mesh const mesh({{"model", 4}});
  auto const terms =
      per_device<double>(mesh.group("model"), {3}, [](Member m, auto i) { return m.rank + i[0]; });
  DistArray const y =
      as_partial(terms) + from_host(std::vector<double>{100, 200, 300}, {3}, {mesh, P(none)});
  CHECK(y.to_host() == std::vector<double>{106, 210, 314});
}

TEST_CASE("groups of four of eight devices gather rows that differ by group") {
  auto const x = per_device<int>(
      Mesh({{"group", 2}, {"member", 4}}).group("member"),
      [](Member m) { return std::array{m.group == 0 ? std::int64_t{5} : std::int64_t{3}}; },
      [](Member m, auto) { return m.device.value(); });
  auto const all = all_gather(x, 0);
  CHECK(all.extents(1, 0)[0] == 20);
  CHECK(all.extents(3, 1)[0] == 12);
  CHECK(all.to_host(0, 1) == std::vector<int>{4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7});
  CHECK_THROWS_AS((void)Group::lists({{0, 1, 2, 3}, {4, 5}}), ShardingError);
}

TEST_SUITE_END();
