#include "window.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/log.hpp"
#include "tessera/base/text.hpp"

namespace tessera {
namespace {

/// A search goes through all of these, so more would cost more than asking the layout.
constexpr std::size_t most_homes = 16;

void add_once(std::vector<std::int64_t>& list, std::int64_t number) {
  if (std::find(list.begin(), list.end(), number) == list.end()) list.push_back(number);
}

// Keeps a home in place of the oldest.
std::size_t keep(std::vector<Home>& homes, std::size_t& next, Home home) {
  auto const place = next++ % most_homes;
  if (place < homes.size())
    homes[place] = std::move(home);
  else
    homes.push_back(std::move(home));
  return place;
}

}  // namespace

Box box_of_one(std::span<std::int64_t const> cell) {
  Box one{Index(cell.begin(), cell.end()), Index(cell.begin(), cell.end())};
  for (auto& hi : one.hi) ++hi;
  return one;
}

StridedBlock Home::block_of(Box const& some, std::int64_t element_bytes) const {
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

Home const& Window::find_nearest(std::span<std::int64_t const> cell) {
  for (std::size_t i = 0; i < nearest_.size(); ++i)
    if (nearest_[i].holds(cell)) return nearest_[last_ = i];
  auto const one = box_of_one(cell);
  std::optional<Home> found;
  auto const look = [&](std::int64_t replica, auto const& is_near) {
    if (found) return;
    auto home = find_home(one, replica);
    if (is_near(job_.process_of(home.device))) found = std::move(home);
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

Home const& Window::copy_of(std::span<std::int64_t const> cell, std::int64_t replica) {
  if (replicas_ == 1) return nearest(cell);
  for (auto const& home : copies_)
    if (home.replica == replica && home.holds(cell)) return home;
  auto home = find_home(box_of_one(cell), replica);
  reach(home);
  return copies_[keep(copies_, next_copy_, std::move(home))];
}

Home Window::find_home(Box const& one, std::int64_t replica) {
  auto const& layout = *array_.layout();
  Home home;
  home.replica = replica;
  layout.visit_owners(one, replica, [&](DeviceId device, Box const& box) {
    home.device = device;
    home.cells = box;
  });
  TESSERA_ASSERT(home.cells.rank() == one.rank(), "nobody holds ", one, " of ", layout);
  home.box = layout.box_holding(home.device, one.lo);
  return home;
}

void Window::reach(Home& home) {
  auto const process = job_.process_of(home.device);
  if (process == job_.self()) return reach_own(home);
  if (network_.may_share_memory() && reach_mapped(home, process)) return;
  if (network_.calls() != nullptr) return;
  throw TransportError(text("the cells ", home.cells, " of process ", process,
                            " cannot be reached: its memory cannot be mapped"));
}

void Window::reach_own(Home& home) {
  auto& shard = array_.shards_of(home.device)[home.box];
  home.strides = shard.frame.strides;
  home.first = shard.cells() + shard.frame.offset_of(shard.own.lo) * array_.element_bytes();
}

// What the owner computes, too: the frame follows from the box and the widths of the ghost cells.
bool Window::reach_mapped(Home& home, ProcessId process) {
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
    if (entry(middle).device < home.device.value())
      low = middle + 1;
    else
      high = middle;
  }
  auto const frame = Frame::around(home.cells, array_.widths(), array_.element_bytes());
  auto const offset = frame.offset_of(home.cells.lo) * array_.element_bytes();
  auto const shown = entry(low + static_cast<std::int64_t>(home.box));
  home.strides = frame.strides;
  home.first = block->data() + shown.current + offset;
  return true;
}

SharedBlock* Window::block_of(ProcessId process) {
  auto& mapped = mapped_[process];
  if (mapped.epoch != epoch_) {
    std::string why_not;
    mapped.epoch = epoch_;
    mapped.block = network_.shared_blocks().find(process, array_.number(), mapped.block, why_not);
    if (mapped.block == nullptr)
      log_warning_once(
          text("one-sided access to process ", process, " goes by messages: ", why_not));
  }
  return mapped.block.get();
}

}  // namespace tessera
