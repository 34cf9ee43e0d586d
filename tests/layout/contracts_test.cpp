#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"
#include "tessera/layout/layout.hpp"

#include "src/base/text.hpp"
#include "src/index/index.hpp"

#include "support/brute_force.hpp"

using namespace tessera;

/// Small arrays whose owners are known by hand. No job is needed to ask who owns what.
TEST_SUITE_BEGIN("layout/contracts");

namespace {

using Numbers = std::vector<std::int64_t>;

Mesh pair() {
  return Mesh({{"x", 2}});
}

// The cells 1, 2, 3, … in row-major order that a device holds of an array of this shape.
Numbers held_by(std::int64_t device, NamedSharding const& sharding, Shape const& shape) {
  Numbers cells;
  auto const strides = row_major_strides(shape);
  test::for_each_cell(sharding.box_of(DeviceId{device}, shape), [&](Index const& i) {
    std::int64_t number = 1;
    for (std::size_t d = 0; d < i.size(); ++d) number += i[d] * strides[d];
    cells.push_back(number);
  });
  return cells;
}

// The devices of the tiles, in row-major order of the tiles.
Numbers tile_owners(NamedSharding const& sharding, Shape const& shape) {
  Numbers devices;
  Layout(sharding, shape).visit_owners(whole(shape), 0, [&](DeviceId device, Box const&) {
    devices.push_back(device.value());
  });
  return devices;
}

// The extents along one dimension of the shards of devices 0, 1, …
Numbers extents_along(std::size_t d, NamedSharding const& sharding, Shape const& shape) {
  Numbers extents;
  for (std::int64_t k = 0; k < sharding.mesh().size(); ++k)
    extents.push_back(sharding.box_of(DeviceId{k}, shape).extent(d));
  return extents;
}

}  // namespace

//  1 2
//  3 4

TEST_CASE("two devices hold the rows of a matrix, or its columns") {
  CHECK(held_by(0, {pair(), P("x", none)}, {2, 2}) == Numbers{1, 2});
  CHECK(held_by(1, {pair(), P("x", none)}, {2, 2}) == Numbers{3, 4});
  CHECK(held_by(0, {pair(), P(none, "x")}, {2, 2}) == Numbers{1, 3});
  CHECK(held_by(1, {pair(), P(none, "x")}, {2, 2}) == Numbers{2, 4});
}

TEST_CASE("four devices hold a cell each, row by row or column by column") {
  Mesh const square({{"a", 2}, {"b", 2}});
  for (std::int64_t k = 0; k < 4; ++k)
    CHECK(held_by(k, {square, P("a", "b")}, {2, 2}) == Numbers{k + 1});

  NamedSharding const by_columns(square, P("b", "a"));
  CHECK(held_by(0, by_columns, {2, 2}) == Numbers{1});
  CHECK(held_by(1, by_columns, {2, 2}) == Numbers{3});
  CHECK(held_by(2, by_columns, {2, 2}) == Numbers{2});
  CHECK(held_by(3, by_columns, {2, 2}) == Numbers{4});
}

TEST_CASE("copies of a matrix lie whole on two devices, or row by row on two pairs") {
  for (std::int64_t k = 0; k < 2; ++k)
    CHECK(held_by(k, {pair(), P(none, none)}, {2, 2}) == Numbers{1, 2, 3, 4});

  NamedSharding const pairs(Mesh({{"rows", 2}, {"copies", 2}}), P("rows", none));
  for (std::int64_t const k : {0, 1}) CHECK(held_by(k, pairs, {2, 2}) == Numbers{1, 2});
  for (std::int64_t const k : {2, 3}) CHECK(held_by(k, pairs, {2, 2}) == Numbers{3, 4});
}

TEST_CASE("rows cut by the minor axis are held once for each step of the major one") {
  NamedSharding const rows(Mesh({{"data", 2}, {"model", 4}}), P("model", none));

  for (std::int64_t k = 0; k < 8; ++k) {
    auto const row = k % 4;
    CHECK(held_by(k, rows, {4, 4}) == Numbers{4 * row + 1, 4 * row + 2, 4 * row + 3, 4 * row + 4});
  }
  CHECK(rows.replicas() == 2);
}

TEST_CASE("tiles go by the order of axes, also where a dimension takes axes out of order") {
  Mesh const cube({{"a", 2}, {"b", 2}, {"c", 2}, {"d", 2}});
  Numbers in_order(16);
  std::iota(in_order.begin(), in_order.end(), 0);

  CHECK(tile_owners({cube, P({"a", "b"}, {"c", "d"})}, {4, 4}) == in_order);
  CHECK(tile_owners({cube, P({"c", "a"}, {"b", "d"})}, {4, 4}) ==
        Numbers{0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15});
  CHECK(tile_owners({Mesh({{"a", 4}, {"b", 2}}), P("b", "a")}, {2, 4}) ==
        Numbers{0, 2, 4, 6, 1, 3, 5, 7});
}

TEST_CASE("on every order of four devices each owns the tile of its place in the list") {
  Numbers order{0, 1, 2, 3};
  do {
    INFO(join(order));
    Mesh const mesh(order, {2, 2}, {"a", "b"});
    Numbers const by_column{order[0], order[2], order[1], order[3]};

    CHECK(tile_owners({mesh, P("a", "b")}, {2, 2}) == order);
    CHECK(tile_owners({mesh, P({"a", "b"})}, {4}) == order);
    CHECK(tile_owners({mesh, P("b", "a")}, {2, 2}) == by_column);
    CHECK(tile_owners({mesh, P({"b", "a"})}, {4}) == by_column);
    CHECK(tile_owners({mesh, P(none, "a")}, {2, 2}) == Numbers{order[0], order[2]});
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("weights are cut by their rows or by their columns") {
  Mesh const mesh({{"model", 4}});
  NamedSharding const rows(mesh, P("model", none));
  NamedSharding const columns(mesh, P(none, "model"));

  CHECK(rows.shard_shape({1024, 512}) == Shape{256, 512});
  CHECK(rows.box_of(DeviceId{3}, {1024, 512}) == Box{{768, 0}, {1024, 512}});
  CHECK(columns.shard_shape({512, 1024}) == Shape{512, 256});
  CHECK(columns.box_of(DeviceId{1}, {512, 1024}) == Box{{0, 256}, {512, 512}});
}

TEST_CASE("a batch that does not divide is cut by either rule") {
  Mesh const mesh({{"data", 4}});
  auto const samples = [&](Cut const& cut, std::int64_t count) {
    return extents_along(0, {mesh, P("data", none, none, none), cut}, {count, 2, 2, 3});
  };

  CHECK(samples(Cut::balanced(), 8) == Numbers{2, 2, 2, 2});
  CHECK(samples(Cut::balanced(), 10) == Numbers{3, 3, 2, 2});
  CHECK(samples(Cut::ceil(), 10) == Numbers{3, 3, 3, 1});
}

TEST_CASE("heads are dealt out strictly, or held by groups of devices") {
  auto const heads_each = [](Mesh const& mesh, std::int64_t heads) {
    NamedSharding const sharding(mesh, P("model"), Cut::strict());
    sharding.check({heads});
    return extents_along(0, sharding, {heads});
  };
  Mesh const eight({{"model", 8}});

  CHECK(heads_each(Mesh({{"data", 2}, {"model", 4}}), 16) == Numbers(8, 4));
  CHECK_THROWS_AS((void)heads_each(eight, 4), ShardingError);
  CHECK_THROWS_WITH_AS((void)heads_each(Mesh({{"model", 3}}), 8),
                       "array dimension 0 (8 cells) is cut 3 ways by mesh axis 'model': 8 cells "
                       "cannot be cut 3 ways equally; use Cut::balanced() or pad to 9",
                       ShardingError);

  // Four heads on eight devices: each head on a pair of neighbours.
  Mesh const pairs({{"model", 4}, {"copies", 2}});
  CHECK(heads_each(pairs, 4) == Numbers(8, 1));
  for (std::int64_t k = 0; k < 8; ++k)
    CHECK(held_by(k, {pairs, P("model")}, {4}) == Numbers{k / 2 + 1});
}

TEST_CASE("experts are numbered over nodes first, then over the devices of a node") {
  NamedSharding const experts(Mesh({{"node", 2}, {"device", 8}}), P({"node", "device"}));

  CHECK(experts.box_of(DeviceId{1 * 8 + 3}, {256}) == Box{{176}, {192}});
  CHECK(experts.box_of(DeviceId{0}, {256}) == Box{{0}, {16}});
  CHECK(experts.box_of(DeviceId{15}, {256}) == Box{{240}, {256}});
}

TEST_CASE("what two devices hold of two stacked matrices is half of each") {
  NamedSharding const stacked(pair(), P(none, "x", none), Cut::strict());

  CHECK(stacked.box_of(DeviceId{0}, {2, 10, 4}) == Box{{0, 0, 0}, {2, 5, 4}});
  CHECK(stacked.box_of(DeviceId{1}, {2, 10, 4}) == Box{{0, 5, 0}, {2, 10, 4}});
  CHECK_THROWS_AS(
      NamedSharding(Mesh({{"x", 3}}), P(none, "x", none), Cut::strict()).check({2, 10, 4}),
      ShardingError);
}

TEST_CASE("an axis of one device cuts nothing and adds no copies") {
  Mesh const thin({{"one", 1}, {"x", 4}});

  for (auto const& spec : {P("x"), P({"one", "x"}), P({"x", "one"})}) {
    NamedSharding const sharding(thin, spec);
    CHECK(sharding.replicas() == 1);
    CHECK(extents_along(0, sharding, {10}) == Numbers{3, 3, 2, 2});
  }
  CHECK(NamedSharding(thin, P("one")).shard_shape({10}) == Shape{10});
}

TEST_SUITE_END();
