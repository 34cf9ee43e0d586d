// Arrays on GPUs, as those who bring kernels of their own see them. Only where devices are emulated
// GPUs: with TESSERA_DEVICE=emulated.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tessera/array/adopt.hpp"
#include "tessera/array/creation.hpp"
#include "tessera/array/one_sided.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/base/error.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/base/environment.hpp"
#include "src/device/emulated/queue.hpp"
#include "src/execution/storage/array_state.hpp"

#include "support/agree.hpp"
#include "support/arrays.hpp"
#include "support/device_kinds.hpp"
#include "support/gpus.hpp"

using namespace tessera;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("expr/gpu_arrays" * test::emulated_only());

namespace {

// A table of 4 rows on each device, and views of its columns for arrays to adopt.
struct Tables {
  DistArray<double, 2> cells;

  explicit Tables(std::int64_t columns)
      : cells(full<double, 2>({4 * device_count(), columns}, 7.0, over(device_count(), 1))) {}

  // Columns [first, first + count) of each device's table, as rows of an array of its own.
  [[nodiscard]] DistArray<double, 2> adopted(std::int64_t first, std::int64_t count) {
    std::vector<ShardView<double, 2>> views;
    for (auto const& shard : cells.mutable_shards())
      views.emplace_back(shard.device(), Box{{shard.box().lo[0], 0}, {shard.box().hi[0], count}},
                         shard.data() + first, shard.strides());
    return adopt<double, 2>(views, {4 * device_count(), count}, over(device_count(), 1));
  }
};

}  // namespace

TEST_CASE("shards are addresses of the GPU, and functions are shown copies") {
  auto u = iota<double>({100}, over(device_count()));
  bool hidden = true;
  for (auto const& shard : u.addressable_shards())
    hidden = hidden && !test::host_can_read(shard.data());
  CHECK_ALL(hidden);
  for_each_shard(u, [](ShardView<double, 1> const& view) {
    for (std::int64_t i = 0; i < view.extent(0); ++i) view(i) += 0.5;
  });
  std::vector<double> expected(100);
  for (std::size_t i = 0; i < 100; ++i) expected[i] = static_cast<double>(i) + 0.5;
  CHECK_ALL(holds(u, expected));
}

TEST_CASE("one-sided access is refused") {
  auto u = iota<double>({10}, over(device_count()));
  CHECK_ALL_THROW(fence(u), UsageError);
  CHECK_ALL(holds(u, iota<double>({10}, over(1)).to_host()));
}

TEST_CASE("memory of the host is not adopted") {
  std::vector<double> cells(static_cast<std::size_t>(8 * addressable_devices().size()));
  auto* next = cells.data();  // each has its own: nothing else is wrong with them
  std::vector<ShardView<double, 2>> views;
  for (auto const device : addressable_devices()) {
    auto const first = 4 * device.id.value();
    views.emplace_back(device.id, Box{{first, 0}, {first + 4, 2}}, next,
                       std::array<std::int64_t, 2>{2, 1});
    next += 8;
  }
  CHECK_ALL_THROW((void)(adopt<double, 2>(views, {4 * device_count(), 2}, over(device_count(), 1))),
                  ShapeError);
}

TEST_CASE("two arrays that share rows of a GPU's memory keep out of each other's cells") {
  Tables tables(6);
  auto left = tables.adopted(0, 2);
  auto right = tables.adopted(3, 3);
  left = 1.5;
  for_each_shard(right, [](ShardView<double, 2> const& view) {
    for (std::int64_t i = 0; i < view.extent(0); ++i)
      for (std::int64_t j = 0; j < view.extent(1); ++j) view(i, j) = 2.0 * view(i, j) + 1;
  });
  left = left + 1.0;
  auto const cells = tables.cells.to_host();
  bool right_cells = true;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    auto const column = i % 6;
    right_cells = right_cells && cells[i] == (column < 2 ? 2.5 : column == 2 ? 7.0 : 15.0);
  }
  CHECK_ALL(right_cells);
}

TEST_CASE("explanations name the route between GPUs") {
  auto const u = iota<double>({10 * device_count()}, over(device_count()));
  auto v = zeros<double>({10 * device_count()}, over(device_count()));
  auto const explained = explain([&] { v(range(0, -1)) = u(from(1)) + 1.0; });
  auto const& routes = explained.statements.front().reads.front().routes;
  auto const has = [&](std::string_view route) { return routes.find(route) != std::string::npos; };
  auto const reason = environment("TESSERA_EMULATED_PEERS");
  auto const wish = reason == "apart" ? "host" : environment("TESSERA_GPU_ROUTE").value_or("ipc");
  // The first device of each process but the first one sends to another process.
  bool const sends_far = process() != ProcessId{0};
  if (reason != "short_of_events")  // then some have it
    CHECK_ALL(has("ipc") == (sends_far && wish == "ipc"));
  CHECK_ALL(has("nccl") == (sends_far && wish == "nccl"));
  CHECK_ALL(has("ucx_gpu") == (sends_far && wish == "ucx"));
  CHECK_ALL(has("peer") == (addressable_devices().size() > 1));
}

TEST_CASE("messages between GPUs grow, and earlier statements still find their way") {
  auto const devices = device_count();
  // Slots between processes hold 1 MiB at first.
  for (std::int64_t const columns : {10, 1000, 10, 140'000, 1000, 10, 270'000, 10, 140'000}) {
    auto const u = iota<double>({devices, columns}, over(devices, 1));
    auto v = zeros<double>({devices, columns}, over(devices, 1));
    v(range(0, -1), tessera::all) = u(from(1), tessera::all);
    auto expected = u.to_host();
    std::shift_left(expected.begin(), expected.end(), columns);
    std::fill_n(expected.end() - columns, columns, 0.0);
    CHECK_ALL(holds(v, expected));
  }
}

TEST_CASE("work of a GPU may take longer than processes wait for each other without asking") {
  auto u = full<double>({100}, 0.25, over(device_count()));
  auto const shards = storage_of(*u.readable()).shards_of(addressable_devices()[0].id);
  emulated::queue_of(*shards.front().queue).defer([] { ::usleep(2'300'000); });
  synchronize();
  u = u + 0.5;
  CHECK_ALL(holds(u, std::vector<double>(100, 0.75)));
}

TEST_SUITE_END();
