#include "src/execution/one_sided/window.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/log.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

/// A look-up searches all of these, so a larger number would cost more than asking the layout.
constexpr std::size_t most_owners = 16;

void add_once(std::vector<std::int64_t>& list, std::int64_t number) {
  if (std::find(list.begin(), list.end(), number) == list.end()) list.push_back(number);
}

// Keeps an owner in place of the oldest.
std::size_t keep(std::vector<Owner>& owners, std::size_t& next, Owner owner) {
  auto const place = next++ % most_owners;
  if (place < owners.size())
    owners[place] = std::move(owner);
  else
    owners.push_back(std::move(owner));
  return place;
}

}  // namespace

Box box_of_one(std::span<std::int64_t const> cell) {
  Box one{Index(cell.begin(), cell.end()), Index(cell.begin(), cell.end())};
  for (auto& hi : one.hi) ++hi;
  return one;
}

StridedBlock Owner::block_of(Box const& some, std::int64_t element_bytes) const {
  return strided_block(some, cells.lo, strides, element_bytes);
}

Window::Window(ArrayState& array, Job const& job, Network& network)
    : array_(array),
      job_(job),
      network_(network),
      replicas_(array.layout()->sharding().replicas()) {
  note_replicas();
}

void Window::note_replicas() {
  if (replicas_ == 1) return;
  auto const& layout = *array_.layout();
  auto const note = [&](ProcessId process, std::vector<std::int64_t>& list) {
    auto const first = job_.first_device_of(process).value();
    for (auto id = first; id < first + job_.devices_of(process); ++id)
      if (layout.mesh().position_of(DeviceId(id))) add_once(list, layout.replica_of(DeviceId(id)));
  };
  note(job_.self(), own_replicas_);
  if (!network_.may_share_memory()) return;
  for (auto const process : network_.host_processes()) note(process, host_replicas_);
}

void Window::open() {
  ++epoch_;
  last_ = next_nearest_ = next_copy_ = 0;
  nearest_.clear();
  copies_.clear();
  auto* const block = array_.shared_block();
  if (block == nullptr) return;
  auto* entry = block->data() + sizeof(std::int64_t);
  for (auto& shard : array_.shards()) {
    SharedShard const shown{shard.device.value(),
                            shard.cells() == nullptr ? 0 : shard.cells() - block->data()};
    std::memcpy(entry, &shown, sizeof shown);
    entry += sizeof shown;
  }
}

Owner const& Window::find_nearest(std::span<std::int64_t const> cell) {
  for (std::size_t i = 0; i < nearest_.size(); ++i)
    if (nearest_[i].holds(cell)) return nearest_[last_ = i];
  auto const one = box_of_one(cell);
  std::optional<Owner> found;
  auto const look = [&](std::int64_t replica, auto const& is_near) {
    if (found) return;
    auto owner = find_owner(one, replica);
    if (is_near(job_.process_of(owner.device))) found = std::move(owner);
  };
  if (replicas_ > 1) {
    for (auto const replica : own_replicas_)
      look(replica, [&](ProcessId process) { return process == job_.self(); });
    auto const& host = network_.host_processes();
    for (auto const replica : host_replicas_)
      look(replica, [&](ProcessId process) {
        return std::find(host.begin(), host.end(), process) != host.end();
      });
  }
  look(floor_mod(job_.self().value(), replicas_), [](ProcessId) { return true; });
  reach(*found);
  last_ = keep(nearest_, next_nearest_, std::move(*found));
  return nearest_[last_];
}

Owner const& Window::copy_of(std::span<std::int64_t const> cell, std::int64_t replica) {
  if (replicas_ == 1) return nearest(cell);
  for (auto const& owner : copies_)
    if (owner.replica == replica && owner.holds(cell)) return owner;
  auto owner = find_owner(box_of_one(cell), replica);
  reach(owner);
  return copies_[keep(copies_, next_copy_, std::move(owner))];
}

Owner Window::find_owner(Box const& one, std::int64_t replica) {
  auto const& layout = *array_.layout();
  Owner owner;
  owner.replica = replica;
  layout.visit_owners(one, replica, [&](DeviceId device, Box const& box) {
    owner.device = device;
    owner.cells = box;
  });
  TESSERA_ASSERT(owner.cells.rank() == one.rank(), "nobody holds ", one, " of ", layout);
  owner.box = layout.box_holding(owner.device, one.lo);
  return owner;
}

void Window::reach(Owner& owner) {
  auto const process = job_.process_of(owner.device);
  if (process == job_.self()) return reach_own(owner);
  if (network_.may_share_memory() && reach_mapped(owner, process)) return;
  if (network_.calls() != nullptr) return;
  auto const mapped = mapped_.find(process);
  throw TransportError(text("the cells ", owner.cells, " of process ", process,
                            " cannot be reached: its memory cannot be mapped",
                            mapped == mapped_.end() ? "" : ": " + mapped->second.reason));
}

void Window::reach_own(Owner& owner) {
  auto& shard = array_.shards_of(owner.device)[owner.box];
  owner.strides = shard.padded_layout.strides;
  owner.first =
      shard.cells() + shard.padded_layout.offset_of(shard.own.lo) * array_.element_bytes();
}

// The owner computes the same: the padded layout follows from the box and the ghost widths.
bool Window::reach_mapped(Owner& owner, ProcessId process) {
  auto const& host = network_.host_processes();
  if (std::find(host.begin(), host.end(), process) == host.end()) return false;
  auto const* const block = block_of(process);
  if (block == nullptr) return false;
  std::int64_t count = 0;
  std::memcpy(&count, block->data(), sizeof count);
  auto const entry = [&](std::int64_t i) {
    SharedShard shown;
    std::memcpy(&shown, block->data() + sizeof count + static_cast<std::size_t>(i) * sizeof shown,
                sizeof shown);
    return shown;
  };
  std::int64_t low = 0;  // the device's first shard
  for (auto high = count; low < high;) {
    auto const middle = (low + high) / 2;
    if (entry(middle).device < owner.device.value())
      low = middle + 1;
    else
      high = middle;
  }
  auto const padded_layout =
      PaddedShardLayout::around(owner.cells, array_.widths(), array_.element_bytes());
  auto const offset = padded_layout.offset_of(owner.cells.lo) * array_.element_bytes();
  auto const shown = entry(low + static_cast<std::int64_t>(owner.box));
  owner.strides = padded_layout.strides;
  owner.first = block->data() + shown.current + offset;
  return true;
}

SharedBlock* Window::block_of(ProcessId process) {
  auto& mapped = mapped_[process];
  if (mapped.epoch != epoch_) {
    mapped.epoch = epoch_;
    mapped.reason.clear();
    mapped.block =
        network_.shared_blocks().find(process, array_.number(), mapped.block, mapped.reason);
    if (mapped.block == nullptr && network_.calls() != nullptr)
      log_warning_once(
          text("one-sided access to process ", process, " goes by messages: ", mapped.reason));
  }
  return mapped.block.get();
}

}  // namespace tessera
