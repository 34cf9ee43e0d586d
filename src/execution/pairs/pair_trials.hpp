#pragma once
/// @file
/// Finds by trial which consecutive statements are faster in one pass over memory.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "src/execution/pairs/trial.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

struct DevicePlan;

/// Identifies two consecutive statements by their kernels and the plan of the second one. The plan
/// is compared and never read.
struct PairKey {
  KernelFunction first = nullptr;
  KernelFunction second = nullptr;
  DevicePlan const* plan = nullptr;
};

/// The trials of a plan's statements, each paired with a statement that followed it. The first form
/// of a trial runs the two one after the other, the second form in one pass over memory.
///
/// Threads: the device's thread. Any thread may call `is_faster_together`.
class PairTrials {
 public:
  static constexpr std::size_t most_pairs = 8;
  /// More than in trials of stores: a pair takes as long as two statements, so other programs
  /// disturb more of its runs.
  static constexpr int runs_of_each = 8;

  /// The trial of a pair, which the first call starts; null if there is no room for another one, so
  /// that the two run one after the other.
  [[nodiscard]] Trial* of(PairKey const& key);

  /// Notes what followed the statement with this kernel: `pair` is the trial of the two if they can
  /// be paired, else null; `saving` is Pair::saving.
  void note_follower(KernelFunction first, Trial const* pair, std::int64_t saving = 0);
  /// True if a statement that can be paired with this one followed it last time, and their trial
  /// has not found them faster apart.
  [[nodiscard]] bool expects_follower(KernelFunction first) const {
    return last_trial_ != nullptr && last_first_kernel_ == first &&
           last_trial_->outcome() != Trial::Outcome::first;
  }

  /// The saving of the pair that was noted last.
  [[nodiscard]] std::int64_t expected_saving() const { return expected_saving_; }

  /// True if a trial has found the statement with this kernel faster together with its follower.
  [[nodiscard]] bool is_faster_together(KernelFunction first) const;

 private:
  struct Entry {
    std::atomic<KernelFunction> first = nullptr;
    KernelFunction second = nullptr;
    DevicePlan const* plan = nullptr;
    Trial trial{runs_of_each};
  };
  std::array<Entry, most_pairs> entries_;
  Trial const* last_trial_ = nullptr;
  KernelFunction last_first_kernel_ = nullptr;
  std::int64_t expected_saving_ = 0;
};

}  // namespace tessera
