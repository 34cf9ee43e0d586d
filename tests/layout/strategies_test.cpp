#include "tessera/layout/strategies.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

using namespace tessera;
using namespace tessera::strategy;

TEST_SUITE_BEGIN("layout/strategies");

namespace {

Mesh model(std::int64_t devices) {
  return Mesh({{"model", devices}});
}

NamedSharding over(std::int64_t devices, Strategy const& strategy, Shape const& shape) {
  return strategy.on(model(devices), "model", shape);
}

// The ranges of dimension `d` that a device has, one after the other.
std::vector<Piece> pieces(NamedSharding const& sharding, Shape const& shape, std::size_t d,
                          std::int64_t device) {
  std::vector<Piece> list;
  for (auto const& box : sharding.boxes_of(DeviceId{device}, shape))
    list.push_back({box.lo[d], box.hi[d]});
  return list;
}

// The ranges of dimension `d` that the devices of a mesh have, where each has one.
std::vector<Piece> one_each(Strategy const& strategy, Shape const& shape, std::size_t d,
                            std::int64_t devices) {
  auto const sharding = over(devices, strategy, shape);
  std::vector<Piece> list;
  for (std::int64_t device = 0; device < devices; ++device) {
    auto const of_device = pieces(sharding, shape, d, device);
    REQUIRE(of_device.size() == 1);
    list.push_back(of_device.front());
  }
  return list;
}

// The shape of every device's shard; they must be alike.
Shape each(NamedSharding const& sharding, Shape const& shape) {
  auto const largest = sharding.shard_shape(shape);
  for (std::int64_t p = 0; p < sharding.mesh().size(); ++p) {
    std::int64_t cells = 0;
    for (auto const& box : sharding.boxes_of(sharding.mesh().device_at(p), shape))
      cells += box.cells();
    REQUIRE(cells == cells_of(largest));
  }
  return largest;
}

Mesh copies_of_kv(std::int64_t kv, std::int64_t rep) {
  return model(kv * rep).split("model", {{"kv", kv}, {"rep", rep}});
}

}  // namespace

TEST_CASE("rowwise cuts the rows and columnwise the columns") {
  CHECK(each(over(4, rowwise(), {1024, 512}), {1024, 512}) == Shape{256, 512});
  CHECK(each(over(4, columnwise(), {512, 1024}), {512, 1024}) == Shape{512, 256});
  CHECK(one_each(rowwise(), {10, 5}, 0, 3) == std::vector<Piece>{{0, 4}, {4, 7}, {7, 10}});
  CHECK(one_each(axiswise(-1), {2, 3, 10}, 2, 3) == std::vector<Piece>{{0, 4}, {4, 7}, {7, 10}});
}

TEST_CASE("a vocabulary that does not divide is cut in balanced pieces, by rows and by columns") {
  std::vector<Piece> const expected{{0, 37919}, {37919, 75838}, {75838, 113756}, {113756, 151674}};

  CHECK(one_each(rowwise(), {151674, 4096}, 0, 4) == expected);
  CHECK(one_each(columnwise(), {4096, 151674}, 1, 4) == expected);
}

TEST_CASE("strategies are named shardings like those written by hand") {
  auto const mesh = model(4);

  CHECK(over(4, rowwise(), {8, 6}) == NamedSharding(mesh, P("model", none)));
  CHECK(over(4, columnwise(), {8, 6}) == NamedSharding(mesh, P(none, "model")));
  CHECK(over(4, rowwise(), {8}) == NamedSharding(mesh, P("model")));
  CHECK(over(4, replicate(), {8, 6}) == NamedSharding(mesh, P(none, none)));
  CHECK(over(4, segmented({.segments = {{3, 2}}}), {6}) ==
        NamedSharding(mesh, P("model"), Cut::unit(2)));
  CHECK(rowwise().on(mesh, none, {8, 6}) == NamedSharding(mesh, P(none, none)));
}

TEST_CASE("gate and up are cut alike, along any axis") {
  CHECK(each(over(4, gate_up(), {1536, 1024}), {1536, 1024}) == Shape{384, 1024});
  auto const sharding = over(2, gate_up({.axis = 2}), {3, 5, 10});
  CHECK(pieces(sharding, {3, 5, 10}, 2, 0) == std::vector<Piece>{{0, 3}, {5, 8}});
  CHECK(pieces(sharding, {3, 5, 10}, 2, 1) == std::vector<Piece>{{3, 5}, {8, 10}});
}

TEST_CASE("stacked queries, keys and values are cut by whole heads") {
  Shape const shape{6144, 2048};
  auto const sharding = over(4, stacked_qkv({.heads = 32, .head_dim = 64}), shape);

  CHECK(each(sharding, shape) == Shape{1536, 2048});
  CHECK(pieces(sharding, shape, 0, 1) ==
        std::vector<Piece>{{512, 1024}, {2560, 3072}, {4608, 5120}});
}

TEST_CASE("stacked weights may have fewer key/value heads than query heads") {
  Shape const shape{8 * 64 + 2 * 2 * 64, 16};
  auto const sharding = over(2, stacked_qkv({.heads = 8, .kv_heads = 2, .head_dim = 64}), shape);

  CHECK(pieces(sharding, shape, 0, 0) == std::vector<Piece>{{0, 256}, {512, 576}, {640, 704}});
  CHECK(pieces(sharding, shape, 0, 1) == std::vector<Piece>{{256, 512}, {576, 640}, {704, 768}});
}

TEST_CASE("weights stored as [in, out] are cut along dimension 1") {
  Heads const heads{.heads = 4, .kv_heads = 2, .head_dim = 8, .axis = 1};

  CHECK(over(2, stacked_qkv(heads), {5, 64}).spec() == P(none, "model"));
  CHECK(over(2, strategy::heads(heads), {5, 32}) ==
        NamedSharding(model(2), P(none, "model"), Cut::unit(16)));
  CHECK(over(2, strategy::kv_heads(heads), {5, 16}) ==
        NamedSharding(model(2), P(none, "model"), Cut::unit(8)));
  CHECK(over(2, head_aware_columnwise({.heads = 4, .head_dim = 8, .axis = 0}), {32, 5}) ==
        NamedSharding(model(2), P("model", none), Cut::unit(8)));
}

TEST_CASE("heads that do not divide are dealt whole, the first devices getting one more") {
  auto const output = head_aware_columnwise({.heads = 30, .head_dim = 64});
  std::vector<Piece> const expected{{0, 512}, {512, 1024}, {1024, 1472}, {1472, 1920}};

  CHECK(one_each(output, {2048, 1920}, 1, 4) == expected);
  CHECK(one_each(strategy::heads({.heads = 30, .head_dim = 64}), {1920, 2048}, 0, 4) == expected);
}

TEST_CASE("uneven heads are fine unless they are refused") {
  Heads heads{.heads = 8, .head_dim = 10};
  CHECK(one_each(strategy::kv_heads(heads), {80, 4}, 0, 3) ==
        std::vector<Piece>{{0, 30}, {30, 60}, {60, 80}});

  heads.uneven = refused;

  CHECK_NOTHROW((void)over(4, strategy::kv_heads(heads), {80, 4}));
  CHECK_THROWS_WITH_AS(
      (void)over(3, strategy::kv_heads(heads), {80, 4}),
      "kv_heads(heads=8, head_dim=10, uneven=refused) cannot deal 8 key/value heads evenly to 3 "
      "devices along mesh axis 'model'; use a number of devices that divides them, or leave out "
      ".uneven",
      ShardingError);
}

TEST_CASE("segments are cut separately, heads among them whole") {
  Shape const shape{8, 24 * 256 + 18432};
  auto const mixed = over(4, segmented({.segments = {{24, 256}, {18432}}, .axis = 1}), shape);

  CHECK(each(mixed, shape) == Shape{8, 6144});
  CHECK(pieces(mixed, shape, 1, 1) == std::vector<Piece>{{1536, 3072}, {10752, 15360}});
}

TEST_CASE("packed numbers are cut where they fill whole cells, by the ratio given") {
  auto const halves = segmented({.segments = {{32, 64}}, .axis = 1, .packed = {2, 1}});
  CHECK(each(over(4, halves, {2048, 1024}), {2048, 1024}) == Shape{2048, 256});

  // Six bits: a head of 64 numbers lies in 48 cells.
  auto const six_bits = head_aware_columnwise({.heads = 5, .head_dim = 64, .packed = {4, 3}});
  CHECK(one_each(six_bits, {2, 240}, 1, 2) == std::vector<Piece>{{0, 144}, {144, 240}});
  auto const anywhere = segmented({.segments = {{20}}, .packed = {4, 3}});
  CHECK(one_each(anywhere, {15}, 0, 2) == std::vector<Piece>{{0, 9}, {9, 15}});
}

TEST_CASE("with data in parallel, each group of devices has all key/value heads") {
  Mesh const mesh({{"data", 2}, {"model", 4}});
  auto const kv = strategy::kv_heads({.heads = 16, .head_dim = 8}).on(mesh, "model", {128, 3});

  for (std::int64_t device = 0; device < 8; ++device)
    CHECK(pieces(kv, {128, 3}, 0, device).front() ==
          Piece{32 * (device % 4), 32 * (device % 4) + 32});
  CHECK(kv.replicas() == 2);
}

TEST_CASE("more devices than key/value heads hold copies of them if the mesh is split so") {
  Heads const heads{.heads = 16, .kv_heads = 4, .head_dim = 8};
  auto const split = copies_of_kv(4, 2);
  SpecEntry const both{"kv", "rep"};

  auto const kv = strategy::kv_heads(heads).on(split, both, {32, 3});
  auto const q = strategy::heads(heads).on(split, both, {128, 3});

  CHECK(kv == NamedSharding(split, P("kv", none), Cut::unit(8)));
  CHECK(kv.replicas() == 2);
  for (std::int64_t device = 0; device < 8; ++device) {
    CHECK(pieces(kv, {32, 3}, 0, device).front().size() == 8);
    CHECK(pieces(kv, {32, 3}, 0, device) == pieces(kv, {32, 3}, 0, device / 2 * 2));
    CHECK(pieces(q, {128, 3}, 0, device).front() == Piece{16 * device, 16 * device + 16});
  }
  CHECK(rowwise().on(split, both, {16, 3}).ways(0) == 8);
}

TEST_CASE("the copies of a key/value head share its queries, also where they do not divide") {
  auto const q = strategy::heads({.heads = 6, .kv_heads = 2, .head_dim = 10})
                     .on(copies_of_kv(2, 2), {"kv", "rep"}, {60});

  CHECK(q.cut(0) == Cut::explicit_sizes({20, 10, 20, 10}));
  CHECK_THROWS_WITH_AS(
      (void)strategy::heads({.heads = 6, .kv_heads = 2, .head_dim = 10, .uneven = refused})
          .on(copies_of_kv(2, 2), {"kv", "rep"}, {60}),
      "heads(heads=6, kv_heads=2, head_dim=10, uneven=refused) cannot deal 6 query heads evenly to "
      "4 devices along mesh axes 'kv', 'rep'; use a number of devices that divides them, or leave "
      "out .uneven",
      ShardingError);
}

TEST_CASE("more devices than key/value heads are refused where no copies are asked for") {
  Heads const heads{.heads = 16, .kv_heads = 4, .head_dim = 8};

  CHECK_THROWS_WITH_AS(
      (void)over(8, strategy::kv_heads(heads), {32, 3}),
      "kv_heads(heads=16, kv_heads=4, head_dim=8) has 4 key/value heads for 8 devices along mesh "
      "axis 'model'; for copies of them use mesh.split(\"model\", {{\"kv\", 4}, {\"rep\", 2}}), "
      "and {\"kv\", \"rep\"} in place of \"model\"",
      ShardingError);
  CHECK_THROWS_AS((void)over(8, strategy::heads(heads), {128, 3}), ShardingError);
  CHECK_THROWS_AS((void)over(8, head_aware_columnwise(heads), {3, 128}), ShardingError);
  CHECK_THROWS_AS((void)over(2, strategy::heads({.heads = 1, .head_dim = 8}), {8}), ShardingError);
}

TEST_CASE("copies need one device for each key/value head along the first axes") {
  Heads const heads{.heads = 16, .kv_heads = 4, .head_dim = 8};
  auto const kv = strategy::kv_heads(heads);
  auto const on = [&](std::int64_t a, std::int64_t b) {
    return kv.on(copies_of_kv(a, b), {"kv", "rep"}, {32, 3});
  };

  CHECK_THROWS_WITH_AS((void)on(2, 4),
                       "kv_heads(heads=16, kv_heads=4, head_dim=8) has 4 key/value heads for 8 "
                       "devices along mesh axes 'kv', 'rep'; for copies of them let the first axes "
                       "have 4 devices and the others 2",
                       ShardingError);
  for (auto const& [a, b] : {std::pair(3, 2), {2, 3}, {6, 1}, {1, 6}})
    CHECK_THROWS_WITH_AS((void)on(a, b),
                         "kv_heads(heads=16, kv_heads=4, head_dim=8) has 4 key/value heads for 6 "
                         "devices along mesh axes 'kv', 'rep'; use at most 4 devices, or a "
                         "multiple of that",
                         ShardingError);
  CHECK_THROWS_AS((void)model(6).split("model", {{"kv", 4}, {"rep", 2}}), ShardingError);
  // A device without a query would have nothing to do.
  CHECK_THROWS_WITH_AS((void)strategy::heads({.heads = 4, .head_dim = 8})
                           .on(copies_of_kv(4, 2), {"kv", "rep"}, {32}),
                       "heads(heads=4, head_dim=8) has 4 query heads for 8 devices along mesh axes "
                       "'kv', 'rep'; use at most 4 devices",
                       ShardingError);
}

TEST_CASE("stacked weights cannot hold copies of key/value heads") {
  CHECK_THROWS_WITH_AS(
      (void)stacked_qkv({.heads = 16, .kv_heads = 4, .head_dim = 8})
          .on(copies_of_kv(4, 2), {"kv", "rep"}, {192, 3}),
      "stacked_qkv(heads=16, kv_heads=4, head_dim=8) cannot hold 2 copies of each key/value head, "
      "since the queries beside them have one owner; store them as weights of their own and use "
      "strategy::heads and strategy::kv_heads",
      ShardingError);
}

TEST_CASE("stacked weights of other sizes are refused, with what would fit") {
  auto const on = [](Heads const& heads, std::int64_t rows) {
    return over(2, stacked_qkv(heads), {rows, 7});
  };

  CHECK_THROWS_WITH_AS(
      (void)on({.heads = 32, .head_dim = 64}, 40),
      "stacked_qkv(heads=32, head_dim=64) covers 6144 cells but array dimension 0 has 40; give its "
      "heads, kv_heads and head_dim, and .packed if it is packed: (heads + 2 kv_heads) head_dim "
      "values",
      ShardingError);
  CHECK_THROWS_AS((void)on({.heads = 3, .head_dim = 4}, 42), ShardingError);
  CHECK_THROWS_WITH_AS((void)on({.heads = 8, .head_dim = 64}, 8 * 64 + 2 * 2 * 64),
                       "stacked_qkv(heads=8, head_dim=64) covers 1536 cells but array dimension 0 "
                       "has 768; give .kv_heads = 2",
                       ShardingError);
}

TEST_CASE("heads, halves and segments that do not fit the shape are refused with both numbers") {
  CHECK_THROWS_WITH_AS(
      (void)over(4, head_aware_columnwise({.heads = 30, .head_dim = 64}), {4, 960}),
      "head_aware_columnwise(heads=30, head_dim=64) covers 1920 cells but array "
      "dimension 1 has 960; give its heads and head_dim, and .packed if it is "
      "packed",
      ShardingError);
  CHECK_THROWS_WITH_AS((void)over(4, segmented({.segments = {{4, 100}, {100}}}), {1000}),
                       "segmented(4 x 100, 100, axis=0) covers 500 cells but array dimension 0 has "
                       "1000; give segments that cover it, or .packed if values share cells",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)over(4, gate_up(), {1537, 4}),
                       "gate_up() cuts two halves but array dimension 0 has 1537, an odd number; "
                       "give the axis that holds gate and up, or pad both",
                       ShardingError);
}

TEST_CASE("another number of devices than asked for is refused") {
  for (auto const& strategy :
       {rowwise(4), columnwise(4), axiswise(0, 4), replicate(4), gate_up({.num_devices = 4}),
        strategy::heads({.heads = 8, .head_dim = 1, .num_devices = 4}),
        segmented({.segments = {{8}}, .num_devices = 4})}) {
    CAPTURE(strategy);
    CHECK(strategy.num_devices() == 4);
    CHECK_NOTHROW((void)over(4, strategy, {8, 8}));
    CHECK_THROWS_AS((void)over(2, strategy, {8, 8}), ShardingError);
    CHECK_NOTHROW((void)strategy.on(copies_of_kv(2, 2), {"kv", "rep"}, {8, 8}));
  }
  CHECK_FALSE(rowwise().num_devices().has_value());
  CHECK_THROWS_WITH_AS((void)over(1, rowwise(4), {8, 8}),
                       "rowwise(num_devices=4) is for 4 devices but there is 1 along mesh axis "
                       "'model'; use a mesh with as many, or leave out num_devices",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)rowwise(0),
                       "strategy::rowwise is asked for 0 devices; give 1 or more, or leave out "
                       "num_devices",
                       ShardingError);
}

TEST_CASE("a dimension or a mesh axis that is not there is refused") {
  CHECK_THROWS_WITH_AS((void)over(2, columnwise(), {8}),
                       "columnwise() cuts dimension 1 but the shape (8,) has 1 dimension; give an "
                       "axis of it, or use replicate",
                       ShapeError);
  CHECK_THROWS_AS((void)over(2, axiswise(-3), {8, 8}), ShapeError);
  CHECK_THROWS_AS((void)over(2, rowwise(), {}), ShapeError);
  CHECK_THROWS_WITH_AS((void)rowwise().on(model(2), "x", {8}),
                       "there is no mesh axis 'x'; the mesh has model", ShardingError);
  CHECK_THROWS_AS((void)rowwise().on(model(2), {"model", "model"}, {8}), ShardingError);
}

TEST_CASE("numbers that make no strategy are refused") {
  CHECK_THROWS_WITH_AS((void)stacked_qkv({.heads = 6, .kv_heads = 4, .head_dim = 2}),
                       "strategy::stacked_qkv has 6 query heads and 4 key/value heads; give a "
                       "number of key/value heads that divides the other",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)strategy::heads({.heads = 6}),
                       "strategy::heads has heads = 6, kv_heads = 6 and head_dim = 0; each is 1 or "
                       "more",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)head_aware_columnwise({.heads = 2, .head_dim = 63, .packed = {2, 1}}),
                       "strategy::head_aware_columnwise has units of 63 values that do not fill "
                       "whole cells, 2 in 1; "
                       "pad them to 64",
                       ShardingError);
  CHECK_THROWS_AS((void)segmented({.segments = {{7}}, .packed = {2, 1}}), ShardingError);
  CHECK_THROWS_AS((void)segmented({.segments = {{8}}, .packed = {0, 1}}), ShardingError);
  CHECK_THROWS_AS((void)segmented({.segments = {}}), ShardingError);
  CHECK_THROWS_AS((void)segmented({.segments = {{-1}}}), ShardingError);
  CHECK_THROWS_AS((void)segmented({.segments = {{std::int64_t{1} << 40, 1 << 20}}}), ShardingError);
  CHECK_THROWS_AS((void)strategy::heads({.heads = std::int64_t{1} << 40, .head_dim = 1 << 20}),
                  ShardingError);
}

TEST_SUITE_END();
