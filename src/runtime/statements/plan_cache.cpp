#include "src/runtime/statements/plan_cache.hpp"

#include <algorithm>
#include <utility>

namespace tessera {

std::shared_ptr<CompiledStatement> const* PlanCache::find(PlanKey const& key) {
  auto const found = by_hash_.find(key.hash());
  if (found == by_hash_.end()) return nullptr;
  auto& entry = entries_[found->second];
  if (!std::ranges::equal(entry.words, key.words())) return nullptr;
  entry.used = ++clock_;
  return &entry.plan;
}

std::shared_ptr<CompiledStatement> const& PlanCache::insert(
    PlanKey const& key, std::shared_ptr<CompiledStatement> plan) {
  if (auto const same_hash = by_hash_.find(key.hash()); same_hash != by_hash_.end())
    drop(same_hash->second);
  make_room(bytes_of(*plan));
  auto const words = key.words();
  by_hash_[key.hash()] = entries_.size();
  bytes_ += bytes_of(*plan);
  entries_.push_back({key.hash(), {words.begin(), words.end()}, std::move(plan), ++clock_});
  return entries_.back().plan;
}

void PlanCache::make_room(std::int64_t bytes) {
  while (!entries_.empty() && (entries_.size() == most_entries || bytes_ + bytes > most_bytes)) {
    auto const oldest = std::ranges::min_element(entries_, {}, &Entry::used);
    drop(static_cast<std::size_t>(oldest - entries_.begin()));
  }
}

void PlanCache::drop(std::size_t place) {
  auto& entry = entries_[place];
  bytes_ -= bytes_of(*entry.plan);
  by_hash_.erase(entry.hash);
  if (auto& last = entries_.back(); &last != &entry) {
    by_hash_[last.hash] = place;
    entry = std::move(last);
  }
  entries_.pop_back();
}

}  // namespace tessera
