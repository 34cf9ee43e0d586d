#pragma once
/// @file
/// Finds by trial which stores are faster: through the caches, or past them.
///
/// Non-temporal stores save a third of the memory traffic, but some processors and virtual machines
/// execute them slowly, above all in short rows. No figure in the sources can know that. The cells
/// get the same bits either way, so each device decides by itself.

#include <array>
#include <atomic>
#include <cstddef>

#include "src/execution/pairs/trial.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// The trial of one kernel: through the caches first, then in turn with past them.
///
/// Threads: the device's. Any may ask for the outcome.
class StoreTrial {
 public:
  /// Whether the next run stores past the caches.
  [[nodiscard]] bool is_non_temporal() const { return trial_.takes_second(); }
  [[nodiscard]] bool is_over() const { return trial_.is_over(); }
  /// The next run has taken so long. Counts until the trial is over.
  void add(Trial::Duration took) { trial_.add(took); }

 private:
  Trial trial_;
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
