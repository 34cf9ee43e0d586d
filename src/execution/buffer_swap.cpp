#include "src/execution/buffer_swap.hpp"

#include <cstdint>

#include "src/index/box.hpp"

namespace tessera {
namespace {

void add_differing(Shard& shard, Box const& written) {
  if (written.empty() || !shard.has_second()) return;
  for (auto const& box : shard.differing)
    if (box.contains(written)) return;
  if (shard.differing.size() == Shard::most_differing) {
    auto around = written;
    for (auto const& box : shard.differing) around = hull(around, box);
    shard.differing.clear();
    shard.differing.push_back(around);
    return;
  }
  shard.differing.push_back(written);
}

}  // namespace

void Targets::name(DeviceTask& task, std::shared_ptr<ArrayModel> const& target, DeviceId device) {
  task.targets.clear();
  task.carry.clear();
  if (task.plan->writes.empty()) return;
  task.keep(*target);
  auto& array = storage_of(*target);
  auto const shards = array.shards_of(device);
  for (auto const& write : task.plan->writes) {
    auto& shard = shards[write.box];
    if (write.swaps)
      swap_buffers(task, shard, array, write);
    else
      add_differing(shard, write.written);
    task.targets.push_back(shard.cells());
  }
}

void Targets::swap_buffers(DeviceTask& task, Shard& shard, ArrayState const& array,
                           BoxWrite const& write) {
  array.need_second_buffer(shard);
  carry_over(task, shard, array.element_bytes(), write);
  shard.current = 1 - shard.current;
  shard.differing.clear();
  shard.differing.push_back(write.written);
}

// The cells in which the buffers differ and which the statement does not write.
void Targets::carry_over(DeviceTask& task, Shard& shard, std::int64_t element_bytes,
                         BoxWrite const& write) {
  auto* const other = shard.buffer(1 - shard.current);
  for (auto const& box : shard.differing) {
    if (write.without_holes && write.written.contains(box)) continue;
    rest_.clear();
    if (write.without_holes)
      append_difference(box, write.written, rest_);
    else
      rest_.push_back(box);
    for (auto const& cells : rest_)
      if (!cells.empty())
        task.carry.push_back(
            {shard.padded_layout.block_of(cells, element_bytes), shard.cells(), other});
  }
}

}  // namespace tessera
