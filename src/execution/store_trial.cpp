#include "src/execution/store_trial.hpp"

namespace tessera {

StoreTrial* StoreTrials::of(KernelFunction form) {
  for (auto& entry : entries_) {
    auto const known = entry.form.load(std::memory_order_relaxed);
    if (known == nullptr) entry.form.store(form, std::memory_order_relaxed);
    if (known == form || known == nullptr) return &entry.trial;
  }
  return nullptr;
}

StoreTrial const* StoreTrials::find(KernelFunction form) const {
  for (auto const& entry : entries_)
    if (entry.form.load(std::memory_order_relaxed) == form) return &entry.trial;
  return nullptr;
}

}  // namespace tessera
