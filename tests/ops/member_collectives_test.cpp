#include "tessera/ops/member_collectives.hpp"

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/program/program.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"
#include "support/shards.hpp"

#include "members.hpp"
#include "misuse.hpp"

using namespace tessera;
using test::all_eight;
using test::both_rows;
using test::device_plus_one;
using test::eleven_times;
using test::first_two;
using test::grid;
using test::hundreds;
using test::is;
using test::sent_by;
using test::tens;

/// Collectives on values of each member of a group.
TEST_SUITE_BEGIN("ops/member_collectives");

namespace {

using Floats = std::vector<float>;
using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("all_gather joins along any dimension") {
  auto const all = all_gather(hundreds(), 1);
  CHECK(all.extents(0) == std::array<std::int64_t, 2>{3, 8});
  CHECK(all.to_host(0) == both_rows);
  CHECK(all.to_host(1) == both_rows);
  CHECK(all_gather(hundreds(), -2).extents(1) == std::array<std::int64_t, 2>{6, 4});

  auto const group = Group({0, 3, 5, 6});
  auto const small = per_device<float>(group, {2, 4}, [](Member m, auto) { return m.rank; });
  auto const rows = all_gather(small, 0);
  CHECK(rows.extents(2) == std::array<std::int64_t, 2>{8, 4});
  CHECK(rows.to_host(3)[31] == 3);
}

TEST_CASE("gather and reduce give a value to the root alone") {
  auto const gathered = gather(hundreds(), 0, 1);
  CHECK(gathered.to_host(0) == both_rows);
  CHECK_THROWS_WITH_AS((void)gathered.to_host(1),
                       "rank 1 of Group(0, 1) has no value: only rank 0 received it; broadcast "
                       "gives it to all",
                       UsageError);

  auto const sum = reduce(tens(), 1);
  CHECK(sum.to_host(1) == eleven_times(1, 12));
  CHECK_THROWS_AS((void)sum.extents(0), UsageError);
  CHECK(broadcast(sum, 1).to_host(0) == eleven_times(1, 12));
  CHECK(scatter(sum, 1, 0, {1, 2}).to_host(0) == eleven_times(1, 4));
}

TEST_CASE("a value that one member has is not taken for a value of all") {
  auto const sum = reduce(tens(), 0);
  CHECK_THROWS_WITH_AS((void)all_gather(sum, 0),
                       "all_gather in Group(0, 1): only rank 0 has a value, which it received; "
                       "broadcast or scatter it first",
                       UsageError);
  CHECK_THROWS_WITH_AS((void)broadcast(sum, 1),
                       "broadcast in Group(0, 1): root 1 has no value, only rank 0 has, which "
                       "received it",
                       UsageError);
  CHECK_THROWS_WITH_AS((void)as_array(sum, 0),
                       "only rank 0 of Group(0, 1) has a value, which it received; broadcast or "
                       "scatter it first",
                       UsageError);
}

TEST_CASE("broadcast and scatter read the root alone") {
  auto const ones = broadcast(tens(), 0);
  CHECK(ones.to_host(1)[11] == 12);
  CHECK(ones.to_host(0)[11] == 12);

  auto const pieces = scatter(hundreds(), 0, 1);
  CHECK(pieces.to_host(0) == Floats{0, 1, 4, 5, 8, 9});
  CHECK(pieces.to_host(1) == Floats{2, 3, 6, 7, 10, 11});
  auto const uneven = scatter(hundreds(), 1, 1, {3, 1});
  CHECK(uneven.to_host(0) == Floats{100, 101, 102, 104, 105, 106, 108, 109, 110});
  CHECK(uneven.to_host(1) == Floats{103, 107, 111});
}

TEST_CASE("all_reduce and reduce_scatter combine cell by cell") {
  CHECK(all_reduce(tens()).to_host(0) == eleven_times(1, 12));
  CHECK(all_reduce(tens()).to_host(1) == eleven_times(1, 12));

  auto const cells = [](ReduceOp op) {
    auto const alike = per_device<float>(first_two(), {4}, [](Member, auto i) {
      constexpr float values[]{3, 1, 4, 1};
      return values[i[0]];
    });
    auto const pieces = reduce_scatter(alike, 0, op);
    return std::vector{pieces.to_host(0), pieces.to_host(1)};
  };
  CHECK(cells(ReduceOp::max) == std::vector<Floats>{{3, 1}, {4, 1}});
  CHECK(cells(ReduceOp::sum) == std::vector<Floats>{{6, 2}, {8, 2}});
  CHECK(cells(ReduceOp::avg) == std::vector<Floats>{{3, 1}, {4, 1}});
  CHECK(cells(ReduceOp::prod) == std::vector<Floats>{{9, 1}, {16, 1}});
}

TEST_CASE("a group is never the world, and several work at once") {
  CHECK(all_reduce(device_plus_one(Group({0, 1, 2, 3}))).to_host(3) == Numbers{10});
  CHECK(all_reduce(device_plus_one(Group({4, 5, 6, 7}))).to_host(0) == Numbers{26});
  CHECK(all_reduce(device_plus_one(all_eight())).to_host(5) == Numbers{36});

  auto const pairs = all_reduce(device_plus_one(grid().group("tp")));
  CHECK(pairs.to_host(0, 0) == Numbers{3});
  CHECK(pairs.to_host(1, 3) == Numbers{15});
  auto const rings = all_reduce(device_plus_one(grid().group("cp")));
  CHECK(rings.to_host(0, 0) == Numbers{1 + 3 + 5 + 7});
  CHECK(rings.to_host(3, 1) == Numbers{2 + 4 + 6 + 8});

  // Ranks 0 to 3 are devices 0, 2, 4, 6.
  auto const turned = device_plus_one(grid().group({"tp", "cp"}));
  CHECK(broadcast(turned, 1).to_host(7) == Numbers{3});
  CHECK(all_gather(turned, 0).to_host(0) == Numbers{1, 3, 5, 7, 2, 4, 6, 8});

  auto const of_pairs = per_device<std::int64_t>(
      grid().group("cp"), {1}, [](Member m, auto) { return 4 * (m.device.value() / 2) + 3; });
  CHECK(all_reduce(of_pairs).to_host(2, 0) == Numbers{36});
}

TEST_CASE("all_to_all exchanges pieces") {
  auto const group = Group({0, 1, 2, 3});
  auto const ranks = per_device<std::int64_t>(group, {8, 8}, [](Member m, auto) { return m.rank; });
  auto const exchanged = all_to_all(ranks);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    auto const cells = exchanged.to_host(rank);
    for (std::int64_t row = 0; row < 8; ++row)
      CHECK(cells[static_cast<std::size_t>(8 * row + 5)] == row / 2);
  }

  auto const truths =
      per_device<bool>(first_two(), {4}, [](Member m, auto) { return m.rank == 0; });
  CHECK(all_to_all(truths).to_host(0) == std::vector<bool>{true, true, false, false});
  CHECK(all_to_all(truths).to_host(1) == std::vector<bool>{true, true, false, false});

  auto const turned = all_to_all(hundreds(), {.split = 1, .join = 0, .sizes = {1, 3}});
  CHECK(turned.to_host(0) == Floats{0, 4, 8, 100, 104, 108});
  CHECK(turned.extents(1) == std::array<std::int64_t, 2>{6, 3});
}

TEST_CASE("all_to_all by counts sends each member what it is to get") {
  auto const group = Group({4, 1, 6});
  // Rank r sends r + q cells to rank q.
  auto const count = [](Member m, std::int64_t to) { return m.rank + to; };
  auto const x = per_device<std::int64_t>(
      group, [](Member m) { return std::array{3 * m.rank + 3}; },
      [](Member m, auto i) { return 100 * m.rank + i[0]; });

  auto const exchanged = all_to_all(x, 0, count);
  CHECK(exchanged.to_host(0) == Numbers{100, 200, 201});
  CHECK(exchanged.to_host(1) == Numbers{0, 101, 102, 202, 203, 204});
  CHECK(exchanged.to_host(2) == Numbers{1, 2, 103, 104, 105, 205, 206, 207, 208});

  auto const counts =
      per_device<std::int64_t>(group, {3}, [&](Member m, auto i) { return count(m, i[0]); });
  CHECK(all_to_all(x, 0, counts).to_host(2) == exchanged.to_host(2));

  auto const columns = per_device<std::int64_t>(
      first_two(), {2, 3}, [](Member m, auto i) { return 100 * m.rank + 10 * i[0] + i[1]; });
  auto const turned =
      all_to_all(columns, 1, [](Member m, std::int64_t to) { return m.rank == to ? 1 : 2; });
  CHECK(turned.to_host(0) == Numbers{0, 100, 101, 10, 110, 111});
  CHECK(turned.to_host(1) == Numbers{1, 2, 102, 11, 12, 112});
}

TEST_CASE("permute and send_recv move whole values") {
  auto const x = device_plus_one(Group({3, 1, 6}));
  auto const round = permute(x, {{0, 1}, {1, 2}, {2, 0}});
  CHECK(round.to_host(0) == Numbers{7});
  CHECK(round.to_host(1) == Numbers{4});
  CHECK(round.to_host(2) == Numbers{2});

  auto const shifted = permute(x, {{0, 1}, {1, 2}});
  CHECK(shifted.to_host(0) == Numbers{0});
  CHECK(shifted.to_host(2) == Numbers{2});
  CHECK(permute(x, {}).to_host(1) == Numbers{0});

  CHECK(send_recv(x, 2, 0).to_host(0) == Numbers{7});
  CHECK_THROWS_AS((void)send_recv(x, 2, 0).to_host(2), UsageError);
  CHECK(send_recv(x, 1, 1).to_host(1) == Numbers{2});
}

TEST_CASE("values go in more ways than an array keeps") {
  auto x = device_plus_one(all_eight());
  for (std::int64_t n = 1; n < 24; ++n) {
    Moves moves;
    for (std::int64_t rank = 0; rank < 8; ++rank)
      if (rank != n % 3) moves.emplace_back(rank, (rank + n) % 8);
    auto const moved = permute(x, moves);
    CHECK(moved.to_host((n % 3 + n) % 8) == Numbers{0});
    CHECK(moved.to_host((5 + n) % 8) == Numbers{6});
  }
}

TEST_CASE("extents may differ along one dimension") {
  auto const x = per_device<std::int64_t>(
      Group({0, 1, 2}),
      [](Member m) {
        return std::array<std::int64_t, 2>{2, 2 * m.rank};
      },
      [](Member m, auto i) { return 100 * m.rank + 10 * i[0] + i[1]; });
  CHECK(x.extents(0) == std::array<std::int64_t, 2>{2, 0});
  CHECK(x.to_host(1) == Numbers{100, 101, 110, 111});

  auto const all = all_gather(x, 1);
  CHECK(all.to_host(0) == Numbers{100, 101, 200, 201, 202, 203, 110, 111, 210, 211, 212, 213});
  CHECK(broadcast(x, 1).to_host(2) == Numbers{100, 101, 110, 111});
  CHECK(permute(x, {{2, 0}}).to_host(0).size() == 8);
  CHECK(permute(x, {{2, 0}}).to_host(1) == Numbers{0, 0, 0, 0});
}

TEST_CASE("sums add in the order of the ranks, in a wider type, and are rounded once") {
  auto const sum_of = [](auto const& values, ReduceOp op) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    // The ranks are not in the order of the devices.
    auto const x = per_device<T>(Group({5, 0, 7, 2}), {1},
                                 [&](Member m, auto) { return values[std::size_t(m.rank)]; });
    return all_reduce(x, op).to_host(2)[0];
  };
  CHECK(sum_of(std::vector<double>{1e16, 1, -1e16, 1}, ReduceOp::sum) == 1);
  CHECK(sum_of(std::vector<float>{0x1p60F, 1, -0x1p60F, 1}, ReduceOp::sum) == 1);
  CHECK(sum_of(std::vector<float>{0x1p30F, 1, -0x1p30F, 1}, ReduceOp::avg) == 0.5F);
  auto const half = [](float value) { return static_cast<float16>(value); };
  CHECK(sum_of(std::vector{half(60000), half(60000), half(-60000), half(0)}, ReduceOp::sum) ==
        half(60000));
  CHECK(sum_of(std::vector{half(60000), half(60000), half(60000), half(60000)}, ReduceOp::avg) ==
        half(60000));
  using Complex = std::complex<float>;
  CHECK(sum_of(std::vector<Complex>{{0x1p60F, 1}, {1, 2}, {-0x1p60F, 3}, {1, 4}}, ReduceOp::sum) ==
        Complex(1, 10));
  CHECK(sum_of(std::vector<Complex>{{1, 4}, {1, 4}, {1, 4}, {1, 8}}, ReduceOp::avg) ==
        Complex(1, 5));
  CHECK(sum_of(std::vector<std::int8_t>{100, 100, 100, 0}, ReduceOp::sum) == 300 - 256);
  CHECK(sum_of(std::vector<std::int64_t>{4, -7, 3, 0}, ReduceOp::min) == -7);
  auto const any = all_reduce(
      per_device<bool>(first_two(), {2}, [](Member m, auto i) { return m.rank + i[0] > 1; }));
  CHECK(any.to_host(0) == std::vector<bool>{false, true});
}

TEST_CASE("each collective is one statement, which explain calls by its name") {
  auto const x = tens();
  auto const kind_of = [](auto const& call) {
    auto const said = explain(call);
    return said.statements.size() == 1 ? said.statements[0].kind : text(said);
  };

  CHECK_ALL(kind_of([&] { (void)all_gather(x, 1); }) == "all_gather");
  CHECK_ALL(kind_of([&] { (void)gather(x, 1, 0); }) == "gather");
  CHECK_ALL(kind_of([&] { (void)scatter(x, 1, 0); }) == "scatter");
  CHECK_ALL(kind_of([&] { (void)broadcast(x, 1); }) == "broadcast");
  CHECK_ALL(kind_of([&] { (void)reduce(x, 1); }) == "reduce");
  CHECK_ALL(kind_of([&] { (void)all_reduce(x); }) == "all_reduce");
  CHECK_ALL(kind_of([&] { (void)reduce_scatter(x, 1); }) == "reduce_scatter");
  CHECK_ALL(kind_of([&] { (void)all_to_all(x, {.split = 1}); }) == "all_to_all");
  CHECK_ALL(kind_of([&] { (void)permute(x, {{0, 1}, {1, 0}}); }) == "permute");
  CHECK_ALL(kind_of([&] { (void)send_recv(x, 0, 1); }) == "send_recv");
}

TEST_CASE("the second call plans nothing") {
  auto const call = [] {
    auto const x = per_device<double>(
        grid().group("tp"),
        [](Member m) {
          return std::array{m.rank + 2, std::int64_t{4}};
        },
        [](Member m, auto i) { return static_cast<double>(m.rank + i[1]); });
    auto const all = all_gather(x, 0);
    (void)all_to_all(all, {.split = 1, .join = 0});
    (void)all_to_all(all, {.split = 1, .join = 1});
    (void)all_reduce(all, ReduceOp::avg);
    (void)reduce_scatter(all, 1);
    (void)gather(x, 1, 0);
    (void)scatter(all, 0, 1);
    (void)permute(x, {{1, 0}});
    (void)send_recv(x, 1, 0);
    (void)all_to_all(all, 1, [](Member, std::int64_t to) { return to == 0 ? 3 : 1; });
  };
  CHECK(sent_by(call).plans_made > 0);
  CHECK(sent_by(call).plans_made == 0);
}

TEST_CASE("devices send what others lack, and no more") {
  auto const x = per_device<double>(all_eight(), {100}, [](Member m, auto) { return m.rank; });

  CHECK(sent_by([&] { (void)all_gather(x, 0); }).bytes == 8 * 7 * 800);
  CHECK(sent_by([&] { (void)gather(x, 3, 0); }).bytes == 7 * 800);
  CHECK(sent_by([&] { (void)broadcast(x, 3); }).bytes == 7 * 800);
  CHECK(sent_by([&] { (void)send_recv(x, 3, 5); }).bytes == 800);
  CHECK(sent_by([&] { (void)scatter(x, 3, 0); }).bytes == 800 - 8 * 13);
  CHECK(sent_by([&] { (void)all_gather(device_plus_one(Group({4})), 0); }).messages == 0);
}

TEST_CASE("what one list adds up never travels to another") {
  auto const x = per_device<double>(Group::lists({{0, 1, 2, 3}, {4, 5, 6, 7}}), {4099},
                                    [](Member m, auto i) { return m.rank + i[0]; });
  auto const sent = sent_by([&] { (void)all_reduce(x); });

  // In each list of four, each device is sent three terms for each cell of its share, and the
  // shares of the other three.
  CHECK(sent.bytes == 2 * 2 * 3 * 4099 * 8);
}

TEST_CASE("loops may exchange values, and swap them") {
  auto const make = [] {
    return per_device<double>(grid().group("tp"), {8}, [](Member m, auto i) {
      return static_cast<double>(m.device.value() * 8 + i[0]);
    });
  };
  auto const step = [](PerDevice<double, 1>& x) {
    x = reduce_scatter(all_gather(all_to_all(x), 0), 0, ReduceOp::avg);
  };
  auto x = make();
  for (int n = 0; n < 6; ++n) step(x);
  auto y = make();
  iterate(6, [&] { step(y); });
  for (std::int64_t list = 0; list < 4; ++list) CHECK(x.to_host(1, list) == y.to_host(1, list));

  auto one = hundreds(), other = tens();
  iterate(5, [&] {
    x = all_to_all(x);
    std::swap(one, other);
  });
  CHECK(one.to_host(0)[11] == 12);
  CHECK(other.to_host(0)[11] == 11);
}

namespace {

std::vector<test::Misuse> const misuses{
    {"a root outside of the group", [] { (void)gather(tens(), 2, 0); }, is<IndexError>,
     "gather in Group(0, 1): there is no root 2; ranks of this group are 0 to 1"},
    {"a negative root", [] { (void)broadcast(tens(), -1); }, is<IndexError>, "there is no root -1"},
    {"an axis out of range", [] { (void)all_gather(tens(), 2); }, is<ShapeError>,
     "all_gather in Group(0, 1): there is no dimension 2 in values of 2 dimensions; there are -2 "
     "to 1"},
    {"sizes that do not add up",
     [] {
       (void)scatter(tens(), 0, 1, {3, 2});
     },
     is<ShapeError>,
     "scatter in Group(0, 1): 2 sizes of together 5 cells for 2 members and 4 cells; give one "
     "size for each member"},
    {"a negative size",
     [] {
       (void)scatter(tens(), 0, 1, {5, -1});
     },
     is<ShapeError>, "a size is 5 for 4 cells; sizes are 0 or more and add up to the extent"},
    {"sizes that overflow",
     [] {
       constexpr auto most = std::numeric_limits<std::int64_t>::max();
       (void)scatter(device_plus_one(Group({0, 1, 2})), 0, 0, {most, most, 3});
     },
     is<ShapeError>, "a size is 9223372036854775807 for 1 cell"},
    {"more cells than an array can have",
     [] {
       (void)per_device<char>(Group({0, 1, 2, 3}), {std::int64_t{1} << 62},
                              [](Member, auto) { return 0; });
     },
     is<ShapeError>, "more than 2^62 for 4 members together"},
    {"too few sizes", [] { (void)reduce_scatter(tens(), 1, ReduceOp::sum, {4}); }, is<ShapeError>,
     "1 size of together 4 cells for 2 members and 4 cells"},
    {"values that differ along another dimension",
     [] {
       (void)all_gather(per_device<float>(
                            first_two(),
                            [](Member m) {
                              return std::array<std::int64_t, 2>{2, m.rank};
                            },
                            [](Member, auto) { return 0; }),
                        0);
     },
     is<ShapeError>,
     "the values of Group(0, 1) differ along dimension 1, so they cannot lie side by side along "
     "dimension 0; join them along dimension 1"},
    {"values that differ along two dimensions",
     [] {
       (void)per_device<float>(
           first_two(),
           [](Member m) {
             return std::array<std::int64_t, 2>{m.rank, m.rank};
           },
           [](Member, auto) { return 0; });
     },
     is<ShapeError>, "differ along dimensions 0 and 1: rank 0 has (0, 0), another member (1, 1)"},
    {"a sum of values that differ",
     [] {
       (void)all_reduce(per_device<float>(
           first_two(), [](Member m) { return std::array{m.rank}; },
           [](Member, auto) { return 0; }));
     },
     is<ShapeError>, "they need equal extents to be combined cell by cell"},
    {"an average of integers",
     [] { (void)all_reduce(device_plus_one(first_two()), ReduceOp::avg); }, is<UsageError>,
     "all_reduce: integers and bools have no average of their own type; take the sum"},
    {"the largest complex number",
     [] {
       (void)reduce(
           per_device<std::complex<float>>(first_two(), {1}, [](Member, auto) { return 1.0F; }), 0,
           ReduceOp::max);
     },
     is<UsageError>, "reduce: complex numbers have no order, so there is no max of them"},
    {"two sources of one member",
     [] {
       (void)permute(tens(), {{0, 1}, {1, 1}});
     },
     is<ShapeError>, "permute in Group(0, 1): rank 1 receives twice; it receives once"},
    {"two targets of one member",
     [] {
       (void)permute(tens(), {{0, 1}, {0, 0}});
     },
     is<ShapeError>, "permute in Group(0, 1): rank 0 sends twice; it sends once"},
    {"a rank that is not there", [] { (void)send_recv(tens(), 0, 2); }, is<IndexError>,
     "send_recv in Group(0, 1): there is no rank 2; ranks of this group are 0 to 1"},
    {"pieces that must be equal", [] { (void)all_to_all(hundreds(), {.split = 0, .join = 0}); },
     is<ShapeError>,
     "all_to_all in Group(0, 1): dimension 0 is split and joined again, which takes equal values "
     "of "
     "at most 7 dimensions and equal pieces, but there are 3 cells for 2 members"},
    {"counts that do not add up",
     [] { (void)all_to_all(tens(), 0, [](Member, std::int64_t) { return 1; }); }, is<ShapeError>,
     "all_to_all in Group(0, 1): the counts of rank 0 add up to 2, but it has 3 cells along "
     "dimension 0"},
    {"counts of more cells than there are",
     [] { (void)all_to_all(tens(), 0, [](Member, std::int64_t) { return 2; }); }, is<ShapeError>,
     "rank 0 sends 2 cells to rank 1 after 2 to others, and has 3 along dimension 0"},
    {"counts of another group",
     [] {
       (void)all_to_all(
           tens(), 0, per_device<std::int64_t>(Group({0, 2}), {2}, [](Member, auto) { return 1; }));
     },
     is<UsageError>, "all_to_all got values of Group(0, 1) and counts of Group(0, 2)"},
    {"too few counts",
     [] {
       (void)all_to_all(tens(), 0,
                        per_device<std::int64_t>(first_two(), {1}, [](Member, auto) { return 3; }));
     },
     is<ShapeError>,
     "all_to_all in Group(0, 1): each member has 2 counts, one for each rank, not 1"},
    {"a device that the job lacks",
     [] {
       (void)device_plus_one(Group({0, 64}));
     },
     is<ShardingError>, "the mesh names device 64 but the job has 8 devices"},
    {"a negative extent",
     [] { (void)per_device<float>(first_two(), {-1}, [](Member, auto) { return 0; }); },
     is<ShapeError>, "-1"},
    {"a value that nobody has", [] { (void)tens().to_host(0, 1); }, is<IndexError>,
     "there is no list 1 in Group(0, 1), which has 0 to 0"},
    {"partial results of other extents",
     [] {
       (void)as_partial(per_device<float>(
           first_two(), [](Member m) { return std::array{m.rank}; },
           [](Member, auto) { return 0; }));
     },
     is<ShapeError>, "partial results have equal extents"},
    {"copies of other extents",
     [] {
       (void)as_copies(per_device<float>(
           first_two(), [](Member m) { return std::array{1 + m.rank}; },
           [](Member, auto) { return 0; }));
     },
     is<ShapeError>,
     "as_copies: in list 0 of Group(0, 1) rank 1 has the extents (2,) and rank 0 (1,); copies are "
     "equal"},
    {"copies along a dimension that is not there", [] { (void)as_copies(tens(), 2); },
     is<ShapeError>, "2"},
    {"pieces that differ along two dimensions",
     [] {
       (void)local(iota<double>({3, 3}, {Mesh({{"x", 2}, {"y", 2}}), P("x", "y")}), {"x", "y"});
     },
     is<ShapeError>, "differ along dimensions 1 and 0"},
    {"several boxes of a device",
     [] {
       (void)local(iota<double>({9}, {Mesh({{"x", 2}}), P("x"), Cut::cyclic(1)}), "x");
     },
     is<ShardingError>, "a device holds several boxes of an array of shape (9,)"},
    {"values of two groups",
     [] {
       auto const x = tens();
       auto const y = device_plus_one(Group({1, 0}));
       per_member([](Member const&, auto const&, auto const&) {}, x, y);
     },
     is<UsageError>,
     "per_member got values of Group(0, 1) and of Group(1, 0); give values of one group"},
};

}  // namespace

TEST_CASE("wrong collectives of members are refused alike on every process") {
  test::check_misuses(misuses);
}

TEST_SUITE_END();
