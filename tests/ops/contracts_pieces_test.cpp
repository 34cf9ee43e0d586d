#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"

#include "support/arrays.hpp"
#include "support/shards.hpp"

#include "contracts.hpp"

using namespace tessera;
using test::has_devices;
using test::holds;
using test::row;
using test::sent_by;

/// Arrays that lie in blocks dealt out in turn: shapes with fused dimensions, and back.
TEST_SUITE_BEGIN("ops/contracts_pieces");

namespace {

using Integers = std::vector<std::int64_t>;

// True if the cells are 0, 1, 2, … in row-major order.
template <std::size_t N>
bool counts_up(DistArray<std::int64_t, N> const& u) {
  Integers cells(static_cast<std::size_t>(u.size()));
  std::iota(cells.begin(), cells.end(), 0);
  return holds(u, cells);
}

// True if the device holds just these cells, box after box, or lies on another process.
bool device_holds(DistArray<std::int64_t, 1> const& u, std::int64_t device, Integers const& cells) {
  Integers held;
  bool is_here = false;
  test::look_at_shards(u, [&](auto const& shard) {
    if (shard.device() != DeviceId{device}) return;
    is_here = true;
    for (std::int64_t i = 0; i < shard.extent(0); ++i) held.push_back(shard(i));
  });
  return !is_here || held == cells;
}

}  // namespace

TEST_CASE("a fused matrix comes to lie in blocks that are dealt out") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  auto const columns = iota<std::int64_t>({2, 4}, {mesh, P(none, "x")});
  NamedSharding const dealt(mesh, P("x"), Cut::cyclic(2));

  auto const flat = reshard(reshape(columns, {8}), dealt);

  CHECK_ALL(device_holds(flat, 0, {0, 1, 4, 5}));
  CHECK_ALL(device_holds(flat, 1, {2, 3, 6, 7}));
  CHECK_ALL(counts_up(flat));
  CHECK_ALL(counts_up(reshape(flat, {2, 4})));
  CHECK_ALL(sum(flat) == 28);
  CHECK_ALL(holds(DistArray<std::int64_t, 1>(flat(from(1)) - flat(range(0, -1))), Integers(7, 1)));
}

TEST_CASE("equal blocks that are dealt out are computed with where they lie") {
  if (!has_devices(2)) return;
  NamedSharding const dealt(row(2), P("x", none, none), Cut::cyclic(32));
  auto const u = iota<std::int64_t>({192, 7, 4}, dealt);
  auto v = zeros<std::int64_t>({192, 7, 4}, dealt);

  CHECK(sent_by([&] {
          v = u + 0 * u(tessera::all, tessera::all, range(none, none, -1));
        }).messages == 0);

  CHECK_ALL(counts_up(v));
}

TEST_CASE("heads that are split off dealt rows, and fused again, are in order") {
  if (!has_devices(2)) return;
  auto const mesh = row(2);
  NamedSharding const by_heads(mesh, P(none, "x", none, none));
  NamedSharding const dealt(mesh, P("x", none, none), Cut::cyclic(32));
  auto const rows = iota<std::int64_t>({192, 7, 64}, dealt);

  auto const heads = reshard(reshape(rows, {3, 64, 7, 64}), by_heads);
  auto const back = reshard(reshape(heads, {192, 7, 64}), dealt);

  CHECK_ALL(counts_up(heads));
  CHECK_ALL(counts_up(back));
  CHECK(back.sharding() == dealt);
}

TEST_SUITE_END();
