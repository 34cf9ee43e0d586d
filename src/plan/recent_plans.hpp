#pragma once
/// @file
/// The last plans that were made, so that an operation in a loop makes none.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tessera {

/// Keeps so many plans; a program with more in one loop makes them again. Plans are arithmetic: one
/// is good for every Runtime.
/// Threads: one.
template <class Key, class Plan>
class RecentPlans {
 public:
  /// The plan of a key; make() gives one that is missing.
  template <class Make>
  [[nodiscard]] std::shared_ptr<Plan const> plan_for(Key const& key, Make const& make) {
    auto const found = std::find_if(plans_.begin(), plans_.end(),
                                    [&](auto const& entry) { return entry.first == key; });
    if (found != plans_.end()) return found->second;
    auto made = std::make_shared<Plan const>(make());
    if (plans_.size() < most_plans)
      plans_.emplace_back(key, made);
    else
      plans_[next_++ % most_plans] = {key, made};
    return made;
  }

 private:
  static constexpr std::size_t most_plans = 64;

  std::vector<std::pair<Key, std::shared_ptr<Plan const>>> plans_;
  std::size_t next_ = 0;
};

}  // namespace tessera
