#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"
#include "tessera/layout/strategies.hpp"

#include "src/base/text.hpp"

using namespace tessera;
using namespace tessera::strategy;

TEST_SUITE_BEGIN("layout/strategies");

namespace {

Strategy feed_forward(std::optional<std::int64_t> num_devices = {}) {
  return tensor_parallel({{"up", rowwise()}, {"down", columnwise()}}, num_devices);
}

}  // namespace

TEST_CASE("a module has a strategy for each weight, in order") {
  auto const module = feed_forward();

  CHECK(module.is_tensor_parallel());
  CHECK(module.weights() == std::vector<NamedStrategy>{{"up", rowwise()}, {"down", columnwise()}});
  CHECK(module["down"] == columnwise());
  CHECK_FALSE(module.axis().has_value());
  CHECK(rowwise().weights().empty());
}

TEST_CASE("a module may hold modules") {
  auto const layer = tensor_parallel({{"norm", replicate()}, {"mlp", feed_forward()}});

  CHECK(layer["mlp"]["up"].is_rowwise());
}

TEST_CASE("the number of devices of a module is that of all its weights") {
  auto const layer = tensor_parallel({{"mlp", feed_forward()}, {"out", rowwise(4)}}, 4);

  CHECK(layer.num_devices() == 4);
  CHECK(layer["mlp"]["up"] == rowwise(4));
  CHECK(layer["out"] == rowwise(4));
  CHECK(feed_forward()["up"] == rowwise());
  CHECK_THROWS_WITH_AS((void)tensor_parallel({{"out", rowwise(4)}}, 8),
                       "strategy::tensor_parallel is for 8 devices but its weight 'out' for 4; "
                       "give one number, or leave both out",
                       ShardingError);
}

TEST_CASE("experts are dealt whole, and everything else is copied") {
  Mesh const mesh({{"node", 2}, {"device", 8}});
  auto const layer = expert_parallel({.experts = {"up", "down"}, .copied = {"router", "shared"}});
  Shape const shape{256, 4, 6};

  auto const up = layer["up"].on(mesh, {"node", "device"}, shape);

  CHECK(layer.is_expert_parallel());
  CHECK(up.box_of(mesh.device_at(mesh.position({1, 3})), shape) == Box{{176, 0, 0}, {192, 4, 6}});
  CHECK(layer["down"] == layer["up"]);
  CHECK(layer["router"].is_replicate());
  CHECK(layer["shared"].is_replicate());
}

TEST_CASE("experts that do not divide are balanced, and some devices may have none") {
  auto const up = expert_parallel({.experts = {"up"}})["up"];
  auto const on = [&](std::int64_t experts, std::int64_t device) {
    return up.on(Mesh({{"x", 4}}), "x", {experts, 2}).box_of(DeviceId{device}, {experts, 2});
  };

  CHECK(on(10, 1) == Box{{3, 0}, {6, 2}});
  CHECK(on(10, 3) == Box{{8, 0}, {10, 2}});
  CHECK(on(3, 3).empty());
}

TEST_CASE("a module has no sharding of its own") {
  CHECK_THROWS_WITH_AS((void)feed_forward().on(Mesh({{"x", 2}}), "x", {4, 4}),
                       "tensor_parallel is the strategy of a module; ask that of one of its "
                       "weights, as strategy[\"up\"].on(...); it has up, down",
                       ShardingError);
  CHECK_THROWS_AS((void)expert_parallel({.experts = {"up"}}).on(Mesh({{"x", 2}}), "x", {4, 4}),
                  ShardingError);
}

TEST_CASE("a weight that a module does not have is refused with those it has") {
  CHECK_THROWS_WITH_AS((void)feed_forward()["gate"],
                       "tensor_parallel has no weight 'gate'; it has up, down", ShardingError);
  CHECK_THROWS_WITH_AS((void)rowwise()["gate"],
                       "rowwise() is the strategy of one weight and has none named 'gate'; use it "
                       "as it is",
                       ShardingError);
}

TEST_CASE("a module needs weights with names of their own") {
  CHECK_THROWS_WITH_AS((void)tensor_parallel({}),
                       "strategy::tensor_parallel has no weights; give a name and a strategy for "
                       "each",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)expert_parallel({.experts = {"up"}, .copied = {"up"}}),
                       "strategy::expert_parallel names the weight 'up' twice; names must differ",
                       ShardingError);
  CHECK_THROWS_AS((void)tensor_parallel({{"", rowwise()}}), ShardingError);
}

TEST_CASE("a strategy answers what it is") {
  Heads const heads{.heads = 4, .head_dim = 2};

  CHECK(rowwise().is_rowwise());
  CHECK(columnwise().is_colwise());
  CHECK(replicate().is_replicate());
  CHECK(gate_up().is_gate_up());
  CHECK(stacked_qkv(heads).is_stacked_qkv());
  CHECK(head_aware_columnwise(heads).is_head_aware_colwise());
  for (auto const& other : {axiswise(0), strategy::heads(heads), strategy::kv_heads(heads),
                            segmented({.segments = {{4}}})})
    CHECK_FALSE((other.is_rowwise() || other.is_colwise() || other.is_replicate() ||
                 other.is_gate_up() || other.is_stacked_qkv() || other.is_head_aware_colwise() ||
                 other.is_tensor_parallel() || other.is_expert_parallel()));
}

TEST_CASE("a strategy knows which dimension it cuts") {
  Heads const heads{.heads = 4, .head_dim = 2};

  CHECK(rowwise().axis() == 0);
  CHECK(columnwise().axis() == 1);
  CHECK(axiswise(-1).axis() == -1);
  CHECK_FALSE(replicate().axis().has_value());
  CHECK(gate_up({.axis = 2}).axis() == 2);
  CHECK(stacked_qkv(heads).axis() == 0);
  CHECK(head_aware_columnwise(heads).axis() == 1);
  CHECK(segmented({.segments = {{4}}, .axis = 1}).axis() == 1);
}

TEST_CASE("a strategy prints what is not usual about it") {
  CHECK(text(rowwise()) == "rowwise()");
  CHECK(text(rowwise(4)) == "rowwise(num_devices=4)");
  CHECK(text(axiswise(-1)) == "axiswise(axis=-1)");
  CHECK(text(gate_up({.axis = 1})) == "gate_up(axis=1)");
  CHECK(text(stacked_qkv({.heads = 32, .kv_heads = 8, .head_dim = 128})) ==
        "stacked_qkv(heads=32, kv_heads=8, head_dim=128)");
  CHECK(text(strategy::heads(
            {.heads = 4, .head_dim = 8, .axis = 1, .packed = {4, 3}, .uneven = refused})) ==
        "heads(heads=4, head_dim=8, axis=1, packed=4:3, uneven=refused)");
  CHECK(text(segmented({.segments = {{24, 256}, {18432}}, .axis = 1, .packed = {2, 1}})) ==
        "segmented(24 x 256, 18432, axis=1, packed=2:1)");
  CHECK(text(feed_forward()) == "tensor_parallel(up: rowwise(), down: columnwise())");
}

TEST_CASE("strategies are equal if they cut everything alike for the same reason") {
  CHECK(rowwise() == rowwise());
  CHECK_FALSE(rowwise() == axiswise(0));
  CHECK_FALSE(rowwise() == rowwise(4));
  CHECK(stacked_qkv({.heads = 4, .head_dim = 2}) ==
        stacked_qkv({.heads = 4, .kv_heads = 4, .head_dim = 2, .axis = 0}));
  CHECK_FALSE(stacked_qkv({.heads = 4, .head_dim = 2}) ==
              stacked_qkv({.heads = 4, .kv_heads = 2, .head_dim = 2}));
  CHECK_FALSE(segmented({.segments = {{4}}}) == segmented({.segments = {{2, 2}}}));
  CHECK_FALSE(feed_forward() == tensor_parallel({{"up", rowwise()}, {"down", rowwise()}}));
}

TEST_SUITE_END();
