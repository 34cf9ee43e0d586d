#include "src/runtime/statements/plan_cache.hpp"

#include <algorithm>
#include <utility>

namespace tessera {

PlanCache::Entry* PlanCache::entry_of(PlanKey const& key) {
  auto const found = by_hash_.find(key.hash());
  if (found == by_hash_.end()) return nullptr;
  auto& entry = entries_[found->second];
  if (!std::ranges::equal(entry.words, key.words())) return nullptr;
  entry.used = ++clock_;
  return &entry;
}

std::shared_ptr<CompiledStatement> const* PlanCache::find(PlanKey const& key) {
  auto const* const entry = entry_of(key);
  return entry == nullptr ? nullptr : &entry->plan;
}

CompiledOperation const* PlanCache::find_operation(PlanKey const& key) {
  auto const* const entry = entry_of(key);
  return entry == nullptr ? nullptr : entry->operation.get();
}

std::shared_ptr<CompiledStatement> const& PlanCache::insert(
    PlanKey const& key, std::shared_ptr<CompiledStatement> plan) {
  auto& entry = new_entry(key, plan->device_bytes);
  entry.plan = std::move(plan);
  return entry.plan;
}

CompiledOperation const& PlanCache::insert(PlanKey const& key,
                                           std::unique_ptr<CompiledOperation> plan) {
  auto& entry = new_entry(key, plan->device_bytes);
  entry.operation = std::move(plan);
  return *entry.operation;
}

PlanCache::Entry& PlanCache::new_entry(PlanKey const& key, std::int64_t device_bytes) {
  if (auto const same_hash = by_hash_.find(key.hash()); same_hash != by_hash_.end())
    drop(same_hash->second);
  auto const bytes = devices_ * device_bytes;
  make_room(bytes);
  auto const words = key.words();
  by_hash_[key.hash()] = entries_.size();
  bytes_ += bytes;
  entries_.push_back({key.hash(), {words.begin(), words.end()}, {}, {}, bytes, ++clock_});
  return entries_.back();
}

void PlanCache::make_room(std::int64_t bytes) {
  while (!entries_.empty() && (entries_.size() == most_entries || bytes_ + bytes > most_bytes)) {
    auto const oldest = std::ranges::min_element(entries_, {}, &Entry::used);
    drop(static_cast<std::size_t>(oldest - entries_.begin()));
  }
}

void PlanCache::drop(std::size_t place) {
  auto& entry = entries_[place];
  bytes_ -= entry.bytes;
  by_hash_.erase(entry.hash);
  if (auto& last = entries_.back(); &last != &entry) {
    by_hash_[last.hash] = place;
    entry = std::move(last);
  }
  entries_.pop_back();
}

}  // namespace tessera
