#include <utility>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"

using namespace tessera;
using test::holds;
using test::over;
using test::sent_by;

/// Statements after shards were written by hand: no stale ghost cell, no old buffer.
TEST_SUITE_BEGIN("expr/shard_writes" * test::host_only());

namespace {

Range const inner = range(1, -1), left = range(0, -2), right = from(2);

void triple(std::vector<ShardView<double, 1>> const& views) {
  for (auto const& view : views)
    for (std::int64_t i = 0; i < view.extent(0); ++i) view(i) *= 3;
}

void step(std::vector<double>& cells) {
  auto const old = cells;
  for (std::size_t i = 1; i + 1 < cells.size(); ++i) cells[i] = 0.3 * old[i - 1] + 0.6 * old[i + 1];
}

}  // namespace

TEST_CASE("ghost cells are filled again after a write by hand, and not after a look") {
  auto u = iota<double>({41}, over(8));
  auto v = zeros<double>({41}, over(8));
  auto const read = [&] { v(inner) = u(left) + u(right); };
  CHECK(sent_by(read).messages == 14);
  CHECK(sent_by(read).messages == 0);

  for_each_shard(std::as_const(u), [](auto const&) {});
  (void)u.addressable_shards();
  CHECK(sent_by(read).messages == 0);

  triple(u.mutable_shards());
  CHECK(sent_by(read).messages == 14);

  std::vector<double> wanted(41, 0.0);
  for (std::size_t i = 1; i < 40; ++i) wanted[i] = 3.0 * static_cast<double>(2 * i);
  CHECK_ALL(holds(v, wanted));
}

TEST_CASE("writes by hand between swaps of the buffers are kept") {
  for (std::int64_t const extent : {3, 20, 41}) {
    CAPTURE(extent);
    auto u = iota<double>({extent}, over(8));
    auto cells = u.to_host();
    for (int s = 0; s < 6; ++s) {
      u(inner) = 0.3 * u(left) + 0.6 * u(right);
      step(cells);
      if (s % 2 == 0)
        triple(u.mutable_shards());
      else
        for_each_shard(u, [](ShardView<double, 1> const& view) { triple({view}); });
      for (auto& c : cells) c *= 3;
    }
    CHECK_ALL(holds(u, cells));
  }
}

TEST_SUITE_END();
