#include "src/execution/storage/array_state.hpp"

#include <algorithm>
#include <cstring>

#include "tessera/detail/base/assert.hpp"

#include "src/base/detail.hpp"
#include "src/device/device_limit.hpp"
#include "src/device/strided.hpp"
#include "src/index/index.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {
namespace {

// Buffers of fewer bytes do not fill a noticeable part of a cache, but these bytes would be most of
// what they take.
constexpr std::int64_t least_displaced_bytes = 1024;
constexpr std::size_t displacement_of_large = 2112;

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

using Borrowed = std::span<BorrowedBox const>;

// The caller's memory for a box; it is looked for from `from` on first.
Borrowed::iterator find_borrowed(Borrowed borrowed, Borrowed::iterator from, DeviceId device,
                                 Box const& own) {
  auto const fits = [&](BorrowedBox const& one) {
    return one.device == device && one.cells == own;
  };
  auto found = std::find_if(from, borrowed.end(), fits);
  if (found == borrowed.end()) found = std::find_if(borrowed.begin(), borrowed.end(), fits);
  TESSERA_ASSERT(found != borrowed.end(), own, " of device ", device);
  return found;
}

PaddedShardLayout padded_layout_of(BorrowedBox const& borrowed) {
  PaddedShardLayout padded_layout{borrowed.cells, borrowed.strides, 0, 0};
  auto last = borrowed.cells.hi;
  for (auto& cell : last) --cell;
  padded_layout.elements = padded_layout.offset_of(last) + 1;
  return padded_layout;
}

}  // namespace

std::int64_t bytes_on_host(Layout const& layout, std::int64_t element_bytes,
                           std::vector<LocalDevice> const& devices) {
  auto const each = static_cast<double>(element_bytes);  // a sum of products may pass 2^63
  auto const most =
      static_cast<double>(layout.cells()) * each * static_cast<double>(devices.size());
  bool const is_large = most >= static_cast<double>(least_large_bytes);
  if (!is_large || layout.sharding().is_partial()) return 0;
  double bytes = 0;
  for (auto const& device : devices)
    if (device.queue->traits().host_reaches_memory)
      for (auto const& box : layout.boxes_of(device.id))
        bytes += static_cast<double>(box.cells()) * each;
  return static_cast<std::int64_t>(std::min(bytes, 0x1p62));
}

ArrayState::ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes,
                       std::uint64_t number, std::vector<LocalDevice> const& local_devices)
    : ArrayModel(std::move(layout), element_bytes, number) {
  if (this->layout()->sharding().is_partial()) return;
  for (auto const& device : local_devices) add_shards_of(device, boxes_on(device.id));
  shards_.shrink_to_fit();
  for (auto& shard : shards_) shard.memory[0] = buffer_for(shard, 0);
}

ArrayState::ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes,
                       std::uint64_t number, std::vector<LocalDevice> const& local_devices,
                       std::span<BorrowedBox const> borrowed)
    : ArrayModel(std::move(layout), element_bytes, number) {
  pin();
  auto next = borrowed.begin();  // where the views come as the boxes do, each is the next one
  for (auto const& device : local_devices) {
    auto boxes = boxes_on(device.id);
    std::vector<DeviceMemory> memory(boxes.size());
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      if (boxes[b].own.empty()) continue;
      auto const found = find_borrowed(borrowed, next, device.id, boxes[b].own);
      next = found + 1;
      boxes[b].padded_layout = padded_layout_of(*found);
      memory[b] =
          DeviceMemory::borrowed(found->first, boxes[b].padded_layout.elements * element_bytes);
    }
    add_shards_of(device, boxes);
    auto const shards = shards_of(device.id);
    for (std::size_t b = 0; b < boxes.size(); ++b) shards[b].memory[0] = std::move(memory[b]);
    if (!boxes.empty()) adopt_boxes(device.id, std::move(boxes));
  }
}

void ArrayState::add_shards_of(LocalDevice const& device, std::vector<StoredBox> const& boxes) {
  if (boxes.empty()) return;
  devices_.push_back({device.id, shards_.size(), boxes.size()});
  for (auto const& box : boxes) {
    auto& shard = shards_.emplace_back();
    shard.device = device.id;
    shard.queue = device.queue;
    shard.own = box.own;
    place_cells(shard, box.padded_layout);
  }
}

void ArrayState::place_cells(Shard& shard, PaddedShardLayout const& padded_layout) const {
  shard.padded_layout = padded_layout;
  shard.displacement =
      cell_bytes(padded_layout) < least_displaced_bytes ? 0 : displacement_of_large;
}

std::span<Shard> ArrayState::shards_of(DeviceId device) {
  for (auto const& held : devices_)
    if (held.device == device) return std::span(shards_).subspan(held.first, held.count);
  return {};
}

std::int64_t ArrayState::cell_bytes(PaddedShardLayout const& padded_layout) const {
  return padded_layout.elements * element_bytes();
}

std::int64_t ArrayState::buffer_bytes(Shard const& shard) const {
  return cell_bytes(shard.padded_layout) + static_cast<std::int64_t>(shard.displacement);
}

DeviceMemory ArrayState::buffer_for(Shard const& shard, std::size_t which) const {
  if (shard.padded_layout.elements == 0) return {};
  auto const bytes = buffer_bytes(shard);
  if (block_ == nullptr) return {bytes, shard.queue};
  auto* const first = block_->data() + shard.places[which];
  poison(first, bytes);
  return DeviceMemory::borrowed(first, bytes);
}

std::int64_t ArrayState::local_bytes() const {
  std::int64_t bytes = 0;
  for (auto const& shard : shards_)
    bytes += shard.memory[0].size_bytes() + shard.memory[1].size_bytes();
  return bytes;
}

bool ArrayState::renew(std::uint64_t number) {
  bool const is_plain = !partials_ && !is_pinned() && window_ == nullptr;
  if (!is_plain || !(widths() == GhostWidths::none(layout()->rank()))) return false;
  start_again(number);
  for (auto const& alias : aliases_) alias->start_again(number);
  halo_validity().clear();
  if (!poisons_memory()) return true;
  for (auto& shard : shards_)
    for (auto& memory : shard.memory) memory.poison();
  return true;
}

std::shared_ptr<ArrayState> ArrayState::alias(std::shared_ptr<Layout const> const& layout,
                                              AliasAxes const& axes, std::size_t joined) {
  TESSERA_ASSERT(widths() == GhostWidths::none(this->layout()->rank()), widths());
  auto packing = mix(this->layout()->fingerprint(), joined);
  for (auto const& axis : axes)
    packing = mix(
        packing, mix(static_cast<std::uint64_t>(axis.from), static_cast<std::uint64_t>(axis.step)));
  auto const found = std::find_if(aliases_.begin(), aliases_.end(), [&](auto const& alias) {
    return alias->packing() == packing && *alias->layout() == *layout;
  });
  if (found != aliases_.end()) {
    follow_cells(**found, joined);
    return storage_of((*found)->shared());
  }
  auto const made = make_alias(layout, axes, joined);
  made->show(*this, packing);
  follow_cells(*made, joined);
  if (aliases_.size() == most_aliases) {
    made->hold_owner();
    return made;
  }
  aliases_.push_back(made);
  return storage_of(made->shared());
}

// Lets an alias show where the cells lie now, and expects them to be written through it.
void ArrayState::follow_cells(ArrayState& alias, std::size_t joined) {
  for (auto& shard : shards_) {
    if (shard.has_second()) shard.differing.assign(1, shard.own);
    auto* next = shard.cells();
    auto const step = shard.padded_layout.strides[joined] * element_bytes();
    for (auto& seen : alias.shards_of(shard.device)) {
      if (seen.own.empty()) continue;
      if (seen.cells() != next)
        seen.memory[0] = DeviceMemory::borrowed(next, seen.memory[0].size_bytes());
      next += seen.own.extent(joined) * step;
    }
  }
}

std::shared_ptr<ArrayState> ArrayState::make_alias(std::shared_ptr<Layout const> const& layout,
                                                   AliasAxes const& axes, std::size_t joined) {
  std::vector<LocalDevice> devices;
  std::vector<BorrowedBox> boxes;
  for (auto& shard : shards_) {
    auto const seen = layout->boxes_of(shard.device);
    if (seen.empty()) continue;
    devices.push_back({shard.device, shard.queue});
    auto const& strides = shard.padded_layout.strides;
    Index seen_strides;
    for (auto const& axis : axes)
      seen_strides.push_back(axis.from == AliasAxis::added
                                 ? shard.padded_layout.elements
                                 : strides[static_cast<std::size_t>(axis.from)] * axis.step);
    auto* next = shard.cells();
    for (auto const& box : seen) {
      if (box.empty()) continue;
      boxes.push_back({shard.device, box, next, seen_strides});
      next += box.extent(joined) * strides[joined] * element_bytes();
    }
  }
  return std::make_shared<ArrayState>(layout, element_bytes(), number(), devices, boxes);
}

void ArrayState::lay_out(std::shared_ptr<Layout const> layout) {
  aliases_.clear();
  set_layout(std::move(layout));
  for (auto& shard : shards_) {
    auto const elements = shard.padded_layout.elements;
    shard.own = this->layout()->box_of(shard.device);
    shard.padded_layout = PaddedShardLayout::around(shard.own, widths(), element_bytes());
    shard.padded_layout.elements = elements;
    shard.differing.assign(1, shard.own);
  }
}

void ArrayState::grow(GhostWidths const& widths) {
  replace_storage(this->widths().merged(widths));
}

void ArrayState::share(SharedBlocks& blocks) {
  blocks_ = &blocks;
  replace_storage(widths());
}

void ArrayState::replace_storage(GhostWidths const& widths) {
  auto old_shards = std::move(shards_);
  auto const old_block = std::move(block_);
  set_widths(widths);
  shards_.clear();
  for (auto const& old : old_shards) {
    auto& shard = shards_.emplace_back();
    shard.device = old.device;
    shard.queue = old.queue;
    shard.own = old.own;
    place_cells(shard, PaddedShardLayout::around(shard.own, widths, element_bytes()));
  }
  if (blocks_ != nullptr) block_ = make_block(shards_);
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    auto& shard = shards_[s];
    auto& old = old_shards[s];
    shard.memory[0] = buffer_for(shard, 0);
    if (!shard.own.empty())
      shard.copy(shard.cells(), shard.padded_layout.block_of(shard.own, element_bytes()),
                 old.cells(), old.padded_layout.block_of(shard.own, element_bytes()));
    old.memory = {};
  }
}

// Makes one block for all shards of this process. Untouched pages take no memory, so second buffers
// have their place from the beginning.
std::shared_ptr<SharedBlock> ArrayState::make_block(std::vector<Shard>& shards) const {
  constexpr std::int64_t page = 4096;
  auto at = static_cast<std::int64_t>(sizeof(std::int64_t) + shards.size() * sizeof(SharedShard));
  for (auto& shard : shards) {
    if (shard.padded_layout.elements == 0) continue;
    auto const bytes = buffer_bytes(shard);
    for (auto& place : shard.places) {
      place = rounded_up(at, bytes < page ? line_bytes : page);
      at = place + bytes;
      if (!layout()->is_single_box()) break;  // it never has a second one
    }
  }
  auto block = blocks_->make(number(), rounded_up(at, page));
  auto const count = static_cast<std::int64_t>(shards.size());
  std::memcpy(block->data(), &count, sizeof count);
  return block;
}

void ArrayState::need_second_buffer(Shard& shard) const {
  if (shard.has_second()) return;
  shard.memory[1 - shard.current] = buffer_for(shard, 1 - shard.current);
  shard.differing.clear();
  shard.differing.push_back(shard.own);
}

}  // namespace tessera
