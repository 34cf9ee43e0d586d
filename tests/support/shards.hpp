#pragma once
/// @file
/// What single devices hold.

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "tessera/array/creation.hpp"
#include "tessera/array/shards.hpp"

#include "src/runtime/engine.hpp"

#include "support/agree.hpp"

namespace tessera::test {

/// Calls look(view) for each shard of this process, one at a time, wherever its cells lie; those of
/// one device in their order.
template <class T, std::size_t N, class Look>
void look_at_shards(DistArray<T, N> const& u, Look const& look) {
  std::mutex mutex;
  for_each_shard(u, [&](ShardView<T const, N> const& view) {
    std::lock_guard const guard(mutex);
    look(view);
  });
}

/// The cells of each local device that the array lies on: those of each of its boxes in row-major
/// order, box after box.
template <class T, std::size_t N>
[[nodiscard]] std::map<std::int64_t, std::vector<T>> local_cells(DistArray<T, N> const& u) {
  std::map<std::int64_t, std::vector<T>> held;
  std::mutex mutex;
  detail::read_shards(u.readable(), [&](detail::RawShard const& shard) {
    std::vector<T> cells;
    detail::visit_cells<N>(shard, [&](auto const&, std::int64_t offset) {
      cells.push_back(reinterpret_cast<T const*>(shard.cells)[offset]);
    });
    std::lock_guard const guard(mutex);
    auto& of_device = held[shard.device.value()];
    of_device.insert(of_device.end(), cells.begin(), cells.end());
  });
  return held;
}

/// True if a device holds just these cells, on the process that drives it; true on the others.
template <class T, std::size_t N>
[[nodiscard]] bool device_holds(DistArray<T, N> const& u, std::int64_t device,
                                std::vector<T> const& cells) {
  auto const held = local_cells(u);
  if (!engine().job().is_local(DeviceId{device})) return true;
  auto const found = held.find(device);
  return found == held.end() ? cells.empty() : found->second == cells;
}

}  // namespace tessera::test
