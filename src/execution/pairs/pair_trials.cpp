#include "src/execution/pairs/pair_trials.hpp"

#include <algorithm>

namespace tessera {

Trial* PairTrials::of(PairKey const& key) {
  for (auto& entry : entries_) {
    auto const known = entry.first.load(std::memory_order_relaxed);
    if (known == key.first && entry.second == key.second && entry.plan == key.plan)
      return &entry.trial;
    if (known != nullptr) continue;
    entry.second = key.second;
    entry.plan = key.plan;
    entry.first.store(key.first, std::memory_order_relaxed);
    return &entry.trial;
  }
  return nullptr;
}

void PairTrials::note_follower(KernelFunction first, Trial const* pair, std::int64_t saving) {
  last_trial_ = pair;
  last_first_kernel_ = first;
  expected_saving_ = saving;
}

bool PairTrials::is_faster_together(KernelFunction first) const {
  return std::ranges::any_of(entries_, [&](Entry const& entry) {
    return entry.first.load(std::memory_order_relaxed) == first &&
           entry.trial.outcome() == Trial::Outcome::second;
  });
}

}  // namespace tessera
