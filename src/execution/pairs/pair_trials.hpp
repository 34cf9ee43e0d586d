#pragma once
/// @file
/// What a device has found out about statements of a plan and those that follow them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "src/execution/pairs/trial.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

struct DevicePlan;

/// Two statements that follow each other, by their kernels and the plan of the second one, which is
/// only compared.
struct PairKey {
  KernelFunction first = nullptr;
  KernelFunction second = nullptr;
  DevicePlan const* plan = nullptr;
};

/// The trials of a plan's statements, each with one that followed it: whether both run one after
/// the other, the first form, or in one pass over memory.
///
/// Threads: the device's. Any may call `is_faster_together`.
class PairTrials {
 public:
  static constexpr std::size_t most_pairs = 8;
  /// More than of stores: a pair takes as long as two statements, so that other programs disturb
  /// more of its runs.
  static constexpr int runs_of_each = 8;

  /// The trial of a pair; null if there is no room for one more, so that it runs apart.
  [[nodiscard]] Trial* of(PairKey const& key);

  /// The statement with this kernel was followed by one that fits; null if by any other. `saving`:
  /// of the pair.
  void note_follower(KernelFunction first, Trial const* pair, std::int64_t saving = 0);
  /// True if it was last time, and no trial has found that such a pair is faster apart.
  [[nodiscard]] bool expects_follower(KernelFunction first) const {
    return last_ != nullptr && last_first_ == first && last_->outcome() != Trial::Outcome::first;
  }

  /// What the pair saves that is expected.
  [[nodiscard]] std::int64_t expected_saving() const { return saving_; }

  /// True if a trial has found that the statement with this kernel is faster together with the one
  /// that follows it.
  [[nodiscard]] bool is_faster_together(KernelFunction first) const;

 private:
  struct Entry {
    std::atomic<KernelFunction> first = nullptr;
    KernelFunction second = nullptr;
    DevicePlan const* plan = nullptr;
    Trial trial{runs_of_each};
  };
  std::array<Entry, most_pairs> entries_;
  Trial const* last_ = nullptr;
  KernelFunction last_first_ = nullptr;
  std::int64_t saving_ = 0;
};

}  // namespace tessera
