#include "tessera/exchange/array_state.hpp"

#include <algorithm>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/planted.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/strided.hpp"

namespace tessera {
namespace {

constexpr std::int64_t line_bytes = 64;

// Elements per cache line; 1 where elements do not fill lines evenly, so that nothing is padded.
std::int64_t elements_per_line(std::int64_t element_bytes) {
  return line_bytes % element_bytes == 0 ? line_bytes / element_bytes : 1;
}

// a * b for sizes in elements of a shard.
// Throws: DeviceError where the bytes would not fit 62 bits.
std::int64_t checked_product(std::int64_t a, std::int64_t b, std::int64_t element_bytes) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (b != 0 && a > most / b / element_bytes)
    throw DeviceError(text("a shard of ", a, " times ", b, " elements of ", element_bytes,
                           " bytes does not fit any memory; cut the array over more devices"));
  return a * b;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace

StridedBlock strided_block(Box const& box, Index const& first, Index const& strides,
                           std::int64_t element_bytes) {
  StridedBlock block;
  block.element_bytes = element_bytes;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    block.extents.push_back(box.extent(d));
    block.strides_bytes.push_back(strides[d] * element_bytes);
    block.offset_bytes += (box.lo[d] - first[d]) * strides[d] * element_bytes;
  }
  return block;
}

Frame Frame::around(Box const& own, GhostWidths const& widths, std::int64_t element_bytes) {
  auto const rank = own.rank();
  auto const line = elements_per_line(element_bytes);
  Frame frame{grown(own, widths.below, widths.above), Index(rank, 1), 0, 0};
  if (frame.cells.empty()) return frame;
  auto stride =
      rank == 0 ? std::int64_t{1} : checked_product(frame.cells.extent(rank - 1), 1, element_bytes);
  if (rank > 1) stride = rounded_up(stride, line);
  for (std::size_t d = rank; d-- > 1;) {
    frame.strides[d - 1] = stride;
    stride = checked_product(stride, frame.cells.extent(d - 1), element_bytes);
  }
  frame.lead = rank == 0 ? 0 : floor_mod(-widths.below[rank - 1], line);
  frame.elements = frame.lead + stride;
  return frame;
}

std::int64_t Frame::offset_of(Index const& cell) const {
  auto offset = lead;
  for (std::size_t d = 0; d < cell.size(); ++d) offset += (cell[d] - cells.lo[d]) * strides[d];
  return offset;
}

StridedBlock Frame::block_of(Box const& box, std::int64_t element_bytes) const {
  auto block = strided_block(box, cells.lo, strides, element_bytes);
  block.offset_bytes += lead * element_bytes;
  return block;
}

ArrayState::ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes,
                       std::uint64_t number, std::vector<LocalDevice> const& local_devices)
    : layout_(std::move(layout)),
      element_bytes_(element_bytes),
      number_(number),
      widths_(GhostWidths::none(layout_->rank())) {
  if (layout_->sharding().is_partial()) return;
  add_boxes_of(local_devices);
  for (auto& shard : shards_) {
    shard.frame = Frame::around(shard.own, widths_, element_bytes_);
    shard.memory[0] = buffer_for(shard, 0);
  }
}

ArrayState::ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes,
                       std::uint64_t number, std::vector<LocalDevice> const& local_devices,
                       std::span<BorrowedBox const> borrowed)
    : layout_(std::move(layout)),
      element_bytes_(element_bytes),
      number_(number),
      widths_(GhostWidths::none(layout_->rank())),
      is_pinned_(true) {
  add_boxes_of(local_devices);
  auto next = borrowed.begin();  // where the views come as the boxes do, each is the next one
  for (auto& shard : shards_) {
    shard.frame = Frame::around(shard.own, widths_, element_bytes_);
    if (shard.own.empty()) continue;
    auto const fits = [&](BorrowedBox const& one) {
      return one.device == shard.device && one.cells == shard.own;
    };
    auto box = std::find_if(next, borrowed.end(), fits);
    if (box == borrowed.end()) box = std::find_if(borrowed.begin(), borrowed.end(), fits);
    TESSERA_ASSERT(box != borrowed.end(), shard.own, " of device ", shard.device);
    next = box + 1;
    shard.frame.strides = box->strides;
    shard.frame.lead = 0;
    auto last = shard.own.hi;
    for (auto& cell : last) --cell;
    shard.frame.elements = shard.frame.offset_of(last) + 1;
    shard.memory[0] = DeviceMemory::borrowed(box->first, shard.frame.elements * element_bytes_);
  }
}

void ArrayState::add_boxes_of(std::vector<LocalDevice> const& local_devices) {
  for (auto const& [device, stream] : local_devices) {
    auto const boxes = layout_->boxes_of(device);
    if (boxes.empty()) continue;
    devices_.push_back({device, shards_.size(), boxes.size()});
    for (auto const& box : boxes) {
      auto& shard = shards_.emplace_back();
      shard.device = device;
      shard.stream = stream;
      shard.own = box;
    }
  }
}

std::span<Shard> ArrayState::shards_of(DeviceId device) {
  for (auto const& held : devices_)
    if (held.device == device) return std::span(shards_).subspan(held.first, held.count);
  return {};
}

std::int64_t ArrayState::buffer_bytes(Frame const& frame) const {
  return frame.elements * element_bytes_ + static_cast<std::int64_t>(Shard::displacement);
}

DeviceMemory ArrayState::buffer_for(Shard const& shard, std::size_t which) const {
  if (shard.frame.elements == 0) return {};
  auto const bytes = buffer_bytes(shard.frame);
  if (block_ == nullptr) return {bytes, shard.stream};
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
  bool const is_plain = addends_ == nullptr && !is_frozen_ && !is_pinned_ && window_ == nullptr;
  if (!is_plain || !(widths_ == GhostWidths::none(layout_->rank()))) return false;
  number_ = number;
  freshness_.clear();
  if (!poisons_memory()) return true;
  for (auto& shard : shards_)
    for (auto& memory : shard.memory) memory.poison();
  return true;
}

void ArrayState::grow(GhostWidths const& widths) {
  replace_storage(widths_.merged(widths));
}

void ArrayState::share(SharedBlocks& blocks) {
  blocks_ = &blocks;
  replace_storage(widths_);
}

void ArrayState::replace_storage(GhostWidths const& widths) {
  auto old_shards = std::move(shards_);
  auto const old_block = std::move(block_);
  shards_.clear();
  for (auto const& old : old_shards) {
    auto& shard = shards_.emplace_back();
    shard.device = old.device;
    shard.stream = old.stream;
    shard.own = old.own;
    shard.frame = Frame::around(shard.own, widths, element_bytes_);
  }
  if (blocks_ != nullptr) block_ = make_block(shards_);
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    auto& shard = shards_[s];
    auto& old = old_shards[s];
    shard.memory[0] = buffer_for(shard, 0);
    if (!shard.own.empty() && !planted("growth_loses_cells"))
      shard.copy(shard.cells(), shard.frame.block_of(shard.own, element_bytes_), old.cells(),
                 old.frame.block_of(shard.own, element_bytes_));
    old.memory = {};
  }
  widths_ = widths;
  freshness_.clear();
}

// One block for all shards of this process: what is not touched takes no memory, so that second
// buffers have their place from the beginning.
std::shared_ptr<SharedBlock> ArrayState::make_block(std::vector<Shard>& shards) const {
  constexpr std::int64_t page = 4096;
  auto at = static_cast<std::int64_t>(sizeof(std::int64_t) + shards.size() * sizeof(SharedShard));
  for (auto& shard : shards) {
    if (shard.frame.elements == 0) continue;
    auto const bytes = buffer_bytes(shard.frame);
    for (auto& place : shard.places) {
      place = rounded_up(at, bytes < page ? line_bytes : page);
      at = place + bytes;
      if (!layout_->is_single_box()) break;  // it never has a second one
    }
  }
  auto block = blocks_->make(number_, rounded_up(at, page));
  auto const count = static_cast<std::int64_t>(shards.size());
  std::memcpy(block->data(), &count, sizeof count);
  return block;
}

void check_writable(ArrayState const& array) {
  if (!array.is_frozen() && !array.layout()->sharding().is_partial()) return;
  throw UsageError(
      text("an array of addends cannot be written, nor what it was made of (an array of shape ",
           array.layout()->shape(), " on ", array.layout()->sharding().without_partial(),
           "); write to a copy of its sum, reshard(u, u.sharding().without_partial())"));
}

void detail::refuse_open_epoch(ArrayState const& array, char const* what) {
  throw UsageError(text(what, " names an array of shape ", array.layout()->shape(),
                        " between its fences, when only one-sided access is allowed; call fence(u) "
                        "before it"));
}

void ArrayState::need_second_buffer(Shard& shard) const {
  if (shard.has_second()) return;
  shard.memory[1 - shard.current] = buffer_for(shard, 1 - shard.current);
  shard.differing.clear();
  if (!planted("new_buffer_taken_for_equal")) shard.differing.push_back(shard.own);
}

}  // namespace tessera
