#include "src/runtime/statements/plan_cache.hpp"

#include <algorithm>

namespace tessera {

std::shared_ptr<CompiledStatement> const* PlanCache::find(PlanKey const& key) {
  auto const found = by_hash_.find(key.hash());
  if (found == by_hash_.end()) return nullptr;
  auto& entry = entries_[found->second];
  if (!std::ranges::equal(entry.words, key.words())) return nullptr;
  entry.used = ++clock_;
  return &entry.plan;
}

std::size_t PlanCache::room() {
  if (entries_.size() < most_entries) {
    entries_.emplace_back();
    return entries_.size() - 1;
  }
  auto const oldest =
      std::min_element(entries_.begin(), entries_.end(),
                       [](Entry const& a, Entry const& b) { return a.used < b.used; });
  by_hash_.erase(oldest->hash);
  return static_cast<std::size_t>(oldest - entries_.begin());
}

std::shared_ptr<CompiledStatement> const& PlanCache::insert(
    PlanKey const& key, std::shared_ptr<CompiledStatement> plan) {
  auto const same_hash = by_hash_.find(key.hash());
  auto const place = same_hash != by_hash_.end() ? same_hash->second : room();
  auto& entry = entries_[place];
  auto const words = key.words();
  entry = {key.hash(), {words.begin(), words.end()}, std::move(plan), ++clock_};
  by_hash_[key.hash()] = place;
  return entry.plan;
}

}  // namespace tessera
