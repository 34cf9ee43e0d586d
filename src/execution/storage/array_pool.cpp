#include "src/execution/storage/array_pool.hpp"

#include <algorithm>

namespace tessera {
namespace {

bool is_idle(std::shared_ptr<ArrayState> const& array) {
  if (array.use_count() != 1) return false;
  // Unlike reading the count, this synchronises with the last holders' accesses to the array.
  return std::weak_ptr<ArrayState>(array).lock() != nullptr;
}

}  // namespace

std::shared_ptr<ArrayState> ArrayPool::take(Layout const& layout, std::int64_t element_bytes,
                                            std::uint64_t number) {
  ++asked_;
  drop_idle();
  release_partials();
  for (auto& entry : entries_) {
    auto& array = *entry.array;
    if (array.element_bytes() != element_bytes || !(*array.layout() == layout)) continue;
    if (!is_idle(entry.array) || !array.renew(number)) continue;
    entry.last_asked = asked_;
    return entry.array;
  }
  return nullptr;
}

void ArrayPool::add(std::shared_ptr<ArrayState> const& array) {
  auto const bytes = array->local_bytes();
  bool const is_empty = bytes == 0 && !array->layout()->sharding().is_partial();
  if (bytes > most_bytes || is_empty) return;
  if (entries_.capacity() < most_arrays) entries_.reserve(most_arrays);
  make_room(bytes);
  entries_.push_back({array, asked_});
}

bool ArrayPool::holds(std::shared_ptr<ArrayState> const& array) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](Entry const& entry) { return entry.array == array; });
}

void ArrayPool::make_room(std::int64_t bytes) {
  for (auto const& entry : entries_) bytes += entry.array->local_bytes();
  while (!entries_.empty() && (bytes > most_bytes || entries_.size() == most_arrays)) {
    auto const oldest = std::min_element(
        entries_.begin(), entries_.end(),
        [](Entry const& a, Entry const& b) { return a.last_asked < b.last_asked; });
    bytes -= oldest->array->local_bytes();
    entries_.erase(oldest);
  }
}

void ArrayPool::release_partials() {
  for (auto& entry : entries_)
    if (entry.array->partials() != nullptr && is_idle(entry.array)) entry.array->drop_partials();
}

void ArrayPool::release_idle() {
  release_partials();
  std::erase_if(entries_, [](Entry const& entry) { return is_idle(entry.array); });
}

void ArrayPool::drop_idle() {
  std::erase_if(entries_, [&](Entry const& entry) {
    return asked_ - entry.last_asked > most_idle && is_idle(entry.array);
  });
}

}  // namespace tessera
