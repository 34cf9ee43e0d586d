#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"
#include "tessera/layout/layout.hpp"

#include "src/index/index.hpp"

#include "support/brute_force.hpp"

using namespace tessera;

/// Arrays of which a device holds several pieces: projections laid together, and blocks dealt out
/// in turn.
TEST_SUITE_BEGIN("layout/contracts_pieces");

namespace {

using Numbers = std::vector<std::int64_t>;

Mesh pair() {
  return Mesh({{"x", 2}});
}
Mesh four() {
  return Mesh({{"x", 4}});
}

// The row-major numbers of the cells that a device holds, in order.
Numbers numbers_on(std::int64_t device, NamedSharding const& sharding, Shape const& shape) {
  Numbers numbers;
  auto const strides = row_major_strides(shape);
  for (auto const& box : sharding.boxes_of(DeviceId{device}, shape))
    test::for_each_cell(box, [&](Index const& i) {
      std::int64_t number = 0;
      for (std::size_t d = 0; d < i.size(); ++d) number += i[d] * strides[d];
      numbers.push_back(number);
    });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// True if both devices hold the same cells by their row-major numbers, so that one array can take
// the other's shape without a message.
bool hold_the_same(NamedSharding const& a, Shape const& of_a, NamedSharding const& b,
                   Shape const& of_b) {
  return numbers_on(0, a, of_a) == numbers_on(0, b, of_b) &&
         numbers_on(1, a, of_a) == numbers_on(1, b, of_b);
}

}  // namespace

TEST_CASE("the columns of a matrix are blocks of its cells dealt out in turn") {
  NamedSharding const columns(pair(), P(none, "x"));
  NamedSharding const dealt(pair(), P("x"), Cut::cyclic(2));

  CHECK(numbers_on(0, columns, {2, 4}) == Numbers{0, 1, 4, 5});
  CHECK(numbers_on(0, dealt, {8}) == Numbers{0, 1, 4, 5});
  CHECK(numbers_on(1, dealt, {8}) == Numbers{2, 3, 6, 7});
  CHECK(hold_the_same(columns, {2, 4}, dealt, {8}));
}

TEST_CASE("a cut last dimension that is fused with others is dealt out by its pieces") {
  NamedSharding const planes(pair(), P(none, none, "x"));
  NamedSharding const lines(pair(), P(none, "x"), Cut::cyclic(3));

  auto const held = numbers_on(0, lines, {2, 18});
  CHECK(Numbers(held.begin(), held.begin() + 9) == Numbers{0, 1, 2, 6, 7, 8, 12, 13, 14});
  CHECK(hold_the_same(planes, {2, 3, 6}, lines, {2, 18}));
}

TEST_CASE("a cut dimension behind a whole one is dealt out by its halves") {
  NamedSharding const heads(pair(), P(none, "x", none, none));
  NamedSharding const rows(pair(), P("x", none, none), Cut::cyclic(32));

  CHECK(rows.boxes_of(DeviceId{1}, {192, 7, 64}) == std::vector<Box>{{{32, 0, 0}, {64, 7, 64}},
                                                                     {{96, 0, 0}, {128, 7, 64}},
                                                                     {{160, 0, 0}, {192, 7, 64}}});
  CHECK(hold_the_same(heads, {3, 64, 7, 64}, rows, {192, 7, 64}));
}

TEST_CASE("stacked queries, keys and values are cut by whole heads, each part for itself") {
  Cut const heads =
      Cut::segments({{2048, Cut::unit(64)}, {2048, Cut::unit(64)}, {2048, Cut::unit(64)}});
  NamedSharding const stacked(four(), P("x", none), {heads, Cut::balanced()});

  CHECK(stacked.shard_shape({6144, 2048}) == Shape{1536, 2048});
  CHECK(stacked.boxes_of(DeviceId{1}, {6144, 2048}) == std::vector<Box>{{{512, 0}, {1024, 2048}},
                                                                        {{2560, 0}, {3072, 2048}},
                                                                        {{4608, 0}, {5120, 2048}}});
}

TEST_CASE("fewer keys than queries are cut by their own heads") {
  NamedSharding const grouped(
      pair(), P("x"),
      Cut::segments({{8 * 64, Cut::unit(64)}, {2 * 64, Cut::unit(64)}, {2 * 64, Cut::unit(64)}}));

  CHECK(grouped.shard_shape({768}) == Shape{384});
  CHECK(grouped.boxes_of(DeviceId{1}, {768}) ==
        std::vector<Box>{{{256}, {512}}, {{576}, {640}}, {{704}, {768}}});
}

TEST_CASE("gate and up columns lie in one matrix, and a device has a part of both") {
  NamedSharding const both(four(), P("x", none), {Cut::segments({768, 768}), Cut::balanced()});

  CHECK(both.shard_shape({1536, 1024}) == Shape{384, 1024});
  CHECK(both.boxes_of(DeviceId{2}, {1536, 1024}) ==
        std::vector<Box>{{{384, 0}, {576, 1024}}, {{1152, 0}, {1344, 1024}}});
}

TEST_CASE("heads beside a part without heads, and heads of packed numbers") {
  NamedSharding const mixed(four(), P(none, "x"),
                            {Cut::balanced(), Cut::segments({{24 * 256, Cut::unit(256)}, 18432})});
  NamedSharding const packed(four(), P(none, "x"),
                             {Cut::balanced(), Cut::segments({{32 * 64 / 2, Cut::unit(32)}})});

  CHECK(mixed.shard_shape({8, 24 * 256 + 18432}) == Shape{8, 1536 + 4608});
  CHECK(packed.shard_shape({2048, 1024}) == Shape{2048, 256});
}

TEST_CASE("segments that do not cover the extent are refused with both numbers") {
  NamedSharding const half(four(), P("x"), Cut::segments({250, 250}));

  CHECK_THROWS_WITH_AS(half.check({1000}), doctest::Contains("500"), ShardingError);
  CHECK_THROWS_WITH_AS(half.check({1000}), doctest::Contains("1000"), ShardingError);
  CHECK_NOTHROW(half.check({500}));
}

TEST_SUITE_END();
