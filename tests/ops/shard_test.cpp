#include "tessera/ops/shard.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/ops/reductions.hpp"

#include "support/arrays.hpp"
#include "support/shards.hpp"

#include "misuse.hpp"

using namespace tessera;
using test::device_holds;
using test::is;

/// Pieces of weights as arrays of their own, and weights side by side.
TEST_SUITE_BEGIN("ops/shard");

namespace {

using Numbers = std::vector<std::int64_t>;
using Weight = DistArray<std::int64_t, 2>;

Weight weight(std::int64_t rows, std::int64_t columns) {
  return iota<std::int64_t>({rows, columns}, {test::row(8), P("x", none)});
}
// Rows of a weight with one column.
Numbers rows_of(Strategy const& strategy, std::int64_t rows, std::int64_t device) {
  return shard(weight(rows, 1), strategy, device).to_host();
}

}  // namespace

TEST_CASE("a device's piece of a weight is an array of its own") {
  CHECK(rows_of(strategy::rowwise(3), 10, 0) == Numbers{0, 1, 2, 3});
  CHECK(rows_of(strategy::rowwise(3), 10, 2) == Numbers{7, 8, 9});
  CHECK(rows_of(strategy::replicate(3), 4, 2) == Numbers{0, 1, 2, 3});
  CHECK(rows_of(strategy::gate_up({.num_devices = 4}), 12, 1) == Numbers{2, 3, 8, 9});
  CHECK(rows_of(strategy::rowwise(16), 10, 15).empty());
  CHECK(rows_of(strategy::rowwise(2), 0, 1).empty());
  CHECK(shard(weight(4, 5), strategy::columnwise(2), 1).to_host() ==
        Numbers{3, 4, 8, 9, 13, 14, 18, 19});
  auto const qkv =
      strategy::stacked_qkv({.heads = 4, .kv_heads = 2, .head_dim = 1, .num_devices = 2});
  CHECK(rows_of(qkv, 8, 1) == Numbers{2, 3, 5, 7});

  auto const dealt = iota<std::int64_t>({12, 1}, {test::row(3), P("x", none), Cut::cyclic(1)});
  CHECK(shard(dealt, strategy::gate_up({.num_devices = 4}), 2).to_host() == Numbers{4, 10});
}

TEST_CASE("weights of one shape lie side by side, each device with its piece of all") {
  Mesh const mesh({{"x", 4}, {"y", 2}});
  auto const a = weight(10, 3);
  Weight const b = a + 100;

  auto const stacked = shard_and_stack(0, mesh, "y", a, b);

  CHECK(stacked.shape() == Shape{2, 10, 3});
  Numbers first, second;
  for (std::int64_t k = 0; k < 2; ++k)
    for (std::int64_t i = 0; i < 15; ++i) {
      first.push_back(k * 100 + i);
      second.push_back(k * 100 + 15 + i);
    }
  CHECK_ALL(device_holds(stacked, 0, first));
  CHECK_ALL(device_holds(stacked, 7, second));
  CHECK_ALL(all_equal(stacked(1, tessera::all, tessera::all), b));
  auto const columns = shard_and_stack(-1, mesh, {"y", "x"}, std::vector<Weight>{weight(2, 8)});
  CHECK(columns.sharding().spec() == P(none, none, {"y", "x"}));
}

namespace {

std::vector<test::Misuse> const misuses{
    {"a strategy for any number of devices",
     [] { (void)shard(weight(4, 4), strategy::rowwise(), 0); }, is<ShardingError>,
     "shard: rowwise() is for any number of devices; name it, as in rowwise(4)"},
    {"a device that is not there", [] { (void)shard(weight(4, 4), strategy::rowwise(2), 2); },
     is<IndexError>,
     "shard: device 2 is not one of the 2 of rowwise(num_devices=2); they are counted from 0"},
    {"an odd gate and up", [] { (void)rows_of(strategy::gate_up({.num_devices = 2}), 5, 0); },
     is<ShardingError>, "an odd number"},
    {"weights of two shapes",
     [] { (void)shard_and_stack(0, test::row(2), "x", weight(4, 4), weight(4, 5)); },
     is<ShapeError>, "(4, 5)"},
    {"no weights", [] { (void)shard_and_stack(0, test::row(2), "x", std::vector<Weight>()); },
     is<ShapeError>, "shard_and_stack"},
    {"an extent that does not divide",
     [] { (void)shard_and_stack(0, test::row(3), "x", weight(10, 4)); }, is<ShardingError>,
     "10 cells cannot be cut 3 ways equally"},
    {"a dimension that a weight lacks",
     [] { (void)shard_and_stack(2, test::row(2), "x", weight(10, 4)); }, is<ShapeError>,
     "there is no axis 2 in an array of 2 dimensions"},
};

}  // namespace

TEST_CASE("wrong pieces are refused alike on every process, and nothing is sent") {
  test::check_misuses(misuses);
}

TEST_SUITE_END();
