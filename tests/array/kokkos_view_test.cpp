#include "tessera/array/kokkos_view.hpp"

#include <type_traits>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/shards.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"

using namespace tessera;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("array/kokkos_view" * test::host_only());

TEST_CASE("a Kokkos view of a shard shows and writes its cells") {
  for (auto const& [rows, columns] : {std::pair{5, 11}, {1, 3}, {0, 4}}) {
    CAPTURE(rows);
    auto u = iota<double>({rows, columns}, over(2, 4));

    for_each_shard(u, [](ShardView<double, 2> const& shard) {
      auto const cells = kokkos_view(shard);
      static_assert(decltype(cells)::rank == 2);
      for (std::size_t i = 0; i < cells.extent(0); ++i)
        for (std::size_t j = 0; j < cells.extent(1); ++j) cells(i, j) = cells(i, j) * 2 + 1;
    });

    auto wanted = iota<double>({rows, columns}, over(1, 1)).to_host();
    for (auto& cell : wanted) cell = cell * 2 + 1;
    CHECK_ALL(holds(u, wanted));
  }
}

TEST_CASE("a shard to read gives a view to read, of any rank") {
  auto const u = iota<float>({3, 4, 5}, {test::row(8), P(none, "x", none)});
  bool same = true;
  for (auto const& shard : u.addressable_shards()) {
    auto const cells = kokkos_view(shard);
    static_assert(std::is_same_v<decltype(cells)::value_type, float const>);
    same = same && cells.data() == shard.data();
    for (std::size_t d = 0; d < 3; ++d)
      same = same && cells.extent(d) == static_cast<std::size_t>(shard.extent(d));
    if (!shard.empty()) same = same && &cells(2, 0, 4) == &shard(2, 0, 4);
  }
  CHECK_ALL(same);
}

TEST_SUITE_END();
