#include "src/execution/tree_reduction.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "tessera/detail/base/assert.hpp"

#include "src/execution/device_task.hpp"

namespace tessera {
namespace {

void send_bytes(DeviceTask& task, Sender& sender, std::byte const* bytes, std::int64_t size) {
  auto const slot = sender.slot(*task.waiter, task.tag, size);
  TESSERA_ASSERT(size <= sender.slot_bytes(), size, " bytes for a slot of ", sender.slot_bytes());
  std::memcpy(slot.data(), bytes, static_cast<std::size_t>(size));
  sender.put(task.tag, size);
}

template <class Combine>
void combine_numbers(std::span<std::byte> into, std::span<std::byte const> from,
                     Combine const& combine) {
  for (std::size_t at = 0; at < into.size(); at += sizeof(std::int64_t)) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::memcpy(&a, into.data() + at, sizeof a);
    std::memcpy(&b, from.data() + at, sizeof b);
    std::int64_t const result = combine(a, b);
    std::memcpy(into.data() + at, &result, sizeof result);
  }
}

// The most bytes of a longer value that travel at once. Equal on all members: slots are longer than
// this on every route, unless all were given one length.
std::size_t bytes_at_once(TreeLinks const& tree) {
  std::int64_t least = 128 * 1024;
  auto const fit = [&](auto const* end) {
    if (end != nullptr) least = std::min(least, end->slot_bytes());
  };
  fit(tree.to_parent);
  for (auto const* child : tree.to_children) fit(child);
  return static_cast<std::size_t>(least / 128 * 128);
}

}  // namespace

void reduce_along_tree(DeviceTask& task) {
  auto const& reduction = task.reduction;
  if (reduction.on_each)
    return reduction.finish(task.accumulator, reduction.parameter, task.result);
  auto const& tree = *task.tree;
  for (auto* child : tree.from_children) {
    auto const part = child->take(*task.waiter, task.tag);
    note_phase(task, Phase::wait);
    reduction.combine(task.accumulator, part.data());
    child->release();
    note_phase(task, Phase::pack);
  }
  if (tree.to_parent == nullptr) {
    reduction.finish(task.accumulator, reduction.parameter, task.result);
  } else {
    send_bytes(task, *tree.to_parent, task.accumulator, reduction.accumulator_bytes);
    note_phase(task, Phase::pack);
    auto const value = tree.from_parent->take(*task.waiter, task.tag);
    note_phase(task, Phase::wait);
    std::memcpy(task.result, value.data(), static_cast<std::size_t>(reduction.value_bytes));
    tree.from_parent->release();
  }
  for (auto* child : tree.to_children) send_bytes(task, *child, task.result, reduction.value_bytes);
  note_phase(task, Phase::pack);
}

void or_bytes(std::span<std::byte> into, std::span<std::byte const> from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] |= from[i];
}

void max_numbers(std::span<std::byte> into, std::span<std::byte const> from) {
  combine_numbers(into, from, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}
void add_numbers(std::span<std::byte> into, std::span<std::byte const> from) {
  combine_numbers(into, from, std::plus<>());
}

void combine_along_tree(DeviceTask& task, std::span<std::byte> bytes, CombineBytes combine) {
  auto const& tree = *task.tree;
  auto const step = bytes_at_once(tree);
  for (std::size_t first = 0; first < bytes.size(); first += step) {
    auto const part = bytes.subspan(first, std::min(step, bytes.size() - first));
    auto const size = static_cast<std::int64_t>(part.size());
    for (auto* child : tree.from_children) {
      combine(part, child->take(*task.waiter, task.tag));
      child->release();
    }
    if (tree.to_parent != nullptr) {
      send_bytes(task, *tree.to_parent, part.data(), size);
      auto const whole = tree.from_parent->take(*task.waiter, task.tag);
      std::memcpy(part.data(), whole.data(), part.size());
      tree.from_parent->release();
    }
    for (auto* child : tree.to_children) send_bytes(task, *child, part.data(), size);
  }
}

}  // namespace tessera
