#include "src/execution/loop_arrays.hpp"

#include <cstdint>
#include <vector>

#include "src/device/strided.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/index/box.hpp"
#include "src/index/region.hpp"

namespace tessera {
namespace {

void make_equal(ArrayState& array, Shard& shard, Box const& differing) {
  if (shard.own.empty()) return;
  array.need_second_buffer(shard);
  std::vector<Box> rest;
  for (auto const& box : shard.differing) append_difference(box, differing, rest);
  for (auto const& box : rest) {
    if (box.empty()) continue;
    auto const block = shard.padded_layout.block_of(box, array.element_bytes());
    shard.copy(shard.buffer(1 - shard.current), block, shard.cells(), block);
  }
}

// `differing`: null if nothing is known about the other buffer.
void note_effects(ArrayState& array, bool has_swapped, Box const* differing) {
  array.halo_validity().clear();
  for (auto& shard : array.shards()) {
    if (has_swapped) shard.current = 1 - shard.current;
    shard.differing.clear();
    auto const box = differing == nullptr ? shard.own : intersect(*differing, shard.own);
    if (shard.has_second() && !box.empty()) shard.differing.push_back(box);
  }
}

}  // namespace

LoopArguments arguments_of(LoopRun const& run, DeviceId device, std::size_t index) {
  LoopArguments arguments{&run, index, {}, {}};
  for (std::size_t a = 0; a < run.arrays.size(); ++a) {
    auto& array = *run.arrays[a];
    auto const shards = array.shards_of(device);
    if (shards.empty()) {
      arguments.buffers.push_back({});
      continue;
    }
    auto& shard = shards.front();
    if (run.loop.swapped[a]) make_equal(array, shard, run.loop.differing[a]);
    arguments.buffers.push_back({shard.cells(), shard.buffer(1 - shard.current)});
  }
  for (auto const& scalar : run.scalars)
    arguments.scalars.push_back(scalar->value(static_cast<std::int64_t>(index)));
  return arguments;
}

void note_effects(LoopRun const& run) {
  auto const& loop = run.loop;
  auto current = std::vector<BlockBuffer>(run.arrays.size());
  for (std::size_t a = 0; a < current.size(); ++a) current[a] = {a, 0};
  auto before = current;
  for (std::int64_t block = 0; block < run.blocks; ++block) {
    before = current;
    for (std::size_t a = 0; a < current.size(); ++a) {
      auto const& [array, which] = loop.after[a];
      current[a] = {before[array].array, before[array].which ^ which};
    }
  }
  for (std::size_t a = 0; a < current.size(); ++a)
    if (loop.written[a])
      note_effects(*run.arrays[current[a].array], current[a].which == 1,
                   loop.swapped[a] ? &loop.differing[a] : nullptr);
}

}  // namespace tessera
