#pragma once
/// @file
/// Finds by trial which stores are faster: through the caches, or past them.
///
/// Non-temporal stores save a third of the memory traffic, but some processors and virtual machines
/// execute them slowly, above all in short rows. No figure in the sources can know that. The cells
/// get the same bits either way, so each device decides by itself.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>

#include "src/statement/kernel.hpp"

namespace tessera {

/// The trial of one kernel. The first run touches memory for the first time and does not count;
/// then both forms run in turn, and the one with the shorter shortest run is kept.
///
/// Threads: the device's. Any may ask for the outcome.
class StoreTrial {
 public:
  using Duration = std::chrono::nanoseconds;
  static constexpr int runs_of_each = 4;

  /// Whether the next run stores past the caches.
  [[nodiscard]] bool is_non_temporal() const {
    return is_over() ? outcome() == Outcome::past_caches : runs_ % 2 == 1;
  }
  [[nodiscard]] bool is_over() const { return outcome() != Outcome::open; }
  /// The next run has taken so long. Counts until the trial is over.
  void add(Duration took) {
    if (is_over()) return;
    auto& shortest = shortest_[is_non_temporal() ? 1 : 0];
    if (runs_ > 0) shortest = std::min(shortest, took);
    if (++runs_ <= 2 * runs_of_each) return;
    bool const is_faster = shortest_[1] < shortest_[0];
    outcome_.store(is_faster ? Outcome::past_caches : Outcome::through_caches,
                   std::memory_order_relaxed);
  }

  enum class Outcome : unsigned char { open, through_caches, past_caches };
  [[nodiscard]] Outcome outcome() const { return outcome_.load(std::memory_order_relaxed); }

 private:
  int runs_ = 0;
  std::array<Duration, 2> shortest_{Duration::max(), Duration::max()};  ///< through, past
  std::atomic<Outcome> outcome_ = Outcome::open;
};

/// The trials of a plan: one for each kernel that has run by it, up to a few.
///
/// Threads: the device's adds kernels. Any may look at those that are there.
class StoreTrials {
 public:
  static constexpr std::size_t most_kernels = 8;

  /// The trial of a kernel with this non-temporal form; null if there is no room for one more, so
  /// that it is stored through the caches.
  [[nodiscard]] StoreTrial* of(KernelFunction form);
  /// The same if it has run; else null.
  [[nodiscard]] StoreTrial const* find(KernelFunction form) const;

 private:
  struct Entry {
    std::atomic<KernelFunction> form = nullptr;
    StoreTrial trial;
  };
  std::array<Entry, most_kernels> entries_;
};

}  // namespace tessera
