#include "src/execution/pair.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <span>

#include "src/base/detail.hpp"
#include "src/execution/compute.hpp"
#include "src/execution/pairs/row_access.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

std::int64_t address_of(std::byte const* memory) {
  return std::bit_cast<std::int64_t>(memory);
}

/// The memory that the only part of a task's plan touches; the target comes first.
class TaskAccess {
 public:
  explicit TaskAccess(DeviceTask const& task) {
    auto const& part = task.plan->parts.front();
    auto const target = address_of(task.targets[part.write]) + part.target_offset_bytes;
    rows_.push_back(
        access_of_rows({target, part.target_element_bytes}, part.extents, part.target_strides));
    rows_.back().writes = true;
    for (auto const& operand : task.plan->operands)
      if (operand.storage != Storage::constant)
        rows_.push_back(
            access_of_rows({address_of(operand_address(task, operand)), operand.element_bytes},
                           part.extents, operand.strides));
  }

  [[nodiscard]] RowAccess const& target() const { return rows_[0]; }
  [[nodiscard]] std::span<RowAccess const> all() const { return {rows_.begin(), rows_.size()}; }

 private:
  InlineVector<RowAccess, max_operands + 1> rows_;
};

/// The messages and copies of a statement, and the accesses of an earlier kernel that still has to
/// run.
class MessagesAndCopies {
 public:
  MessagesAndCopies(DeviceTask const& task, TaskAccess const& kernel)
      : task_(task), kernel_(kernel) {}

  /// True if the messages and copies may come before the kernel: they touch no cell that it writes,
  /// and write none that it reads.
  [[nodiscard]] bool may_precede_kernel() const {
    auto const& plan = *task_.plan;
    auto const is_apart = [&](MessageBlock const& block, bool writes) {
      return is_independent(base(block.storage, block.buffer), block.block, writes);
    };
    for (auto const* exchange : plan.exchanges()) {
      for (auto const& message : exchange->sends)
        for (auto const& block : message.blocks)
          if (!is_apart(block, false)) return false;
      for (auto const& message : exchange->receives)
        for (auto const& block : message.blocks)
          if (!is_apart(block, true)) return false;
    }
    return std::ranges::all_of(plan.copies, [&](LocalCopy const& copy) {
      return is_independent(base(copy.source, copy.from), copy.pair.from, false) &&
             is_independent(base(copy.storage, copy.to), copy.pair.to, true);
    });
  }

 private:
  [[nodiscard]] std::int64_t base(Storage storage, std::size_t buffer) const {
    return address_of(base_of(task_, storage, buffer));
  }

  [[nodiscard]] bool is_independent(std::int64_t base, StridedBlock const& block,
                                    bool writes) const {
    return std::ranges::all_of(kernel_.all(), [&](RowAccess const& access) {
      return (!writes && !access.writes) ||
             are_apart(access_of_block(base, block, access.stride), access);
    });
  }

  DeviceTask const& task_;
  TaskAccess const& kernel_;
};

std::int64_t rows_of(DeviceTask const& task) {
  return task.plan->parts.front().extents[0];
}

// The number of rows that stay in the cache until the second statement has used them.
std::int64_t band_for(std::int64_t row_bytes, std::int64_t skew, PairOptions const& options) {
  if (options.is_forced()) return options.forced_rows;
  auto const fitting = options.band_bytes / std::max<std::int64_t>(row_bytes, 1) - skew;
  return std::max(fitting, skew + 1);
}

bool is_non_temporal(DeviceTask const& task) {
  auto const* const trial = store_trial_of(task);
  return trial != nullptr && trial->is_non_temporal();
}

}  // namespace

std::int64_t pair_bytes_of(DeviceWork const& plan) {
  bool const has_one_write = plan.parts.size() == 1 && plan.writes.size() == 1;
  if (!has_one_write || plan.whole_parts || plan.writes.front().staged) return 0;
  auto const& part = plan.parts.front();
  if (part.rows == 0 || part.extents.empty()) return 0;
  auto const cells = part.rows * part.extents.back();
  auto bytes = cells * part.target_element_bytes;
  for (auto operand = plan.operands.begin(); operand != plan.operands.end(); ++operand) {
    bool const is_counted = std::any_of(plan.operands.begin(), operand, [&](auto const& other) {
      return other.storage == operand->storage && other.buffer == operand->buffer;
    });
    if (operand->storage == Storage::shard && operand->strides[0] != 0 && !is_counted)
      bytes += cells * operand->element_bytes;
  }
  return bytes;
}

std::optional<Pair> pair_of(DeviceTask const& first, DeviceTask const& second,
                            PairOptions const& options) {
  if (!second.carry.empty()) return std::nullopt;
  TaskAccess const earlier(first), later(second);
  if (!MessagesAndCopies(second, earlier).may_precede_kernel()) return std::nullopt;
  auto const skew = skew_between(earlier.all(), later.all());
  if (!skew) return std::nullopt;
  InlineVector<RowAccess, 2 * (max_operands + 1)> both;
  for (auto const& access : earlier.all()) both.push_back(access);
  for (auto const& access : later.all()) both.push_back(access);
  auto const row_bytes = bytes_of_a_row({both.begin(), both.size()});
  Pair pair{*skew, band_for(row_bytes, *skew, options)};
  pair.second_uses_first = std::ranges::any_of(
      later.all(), [&](RowAccess const& access) { return !are_apart(access, earlier.target()); });
  if (options.is_forced()) return pair;
  pair.saving = bytes_of_a_row(earlier.all()) + bytes_of_a_row(later.all()) - row_bytes;
  if (pair.saving == 0) return std::nullopt;  // they share no memory
  // The first statement then stores through the caches, which read each cache line first.
  if (pair.second_uses_first) pair.saving -= std::abs(earlier.target().stride);
  auto const rows = std::min(rows_of(first), rows_of(second));
  if (2 * (pair.band + pair.skew) > rows) return std::nullopt;
  return pair;
}

PairTimes compute_pair(DeviceTask& first, DeviceTask& second, Pair const& pair) {
  auto const rows = rows_of(first), later_rows = rows_of(second);
  // No non-temporal stores of cells that the second statement uses next: they stay in the caches.
  bool const is_first_non_temporal = !pair.second_uses_first && is_non_temporal(first);
  bool const is_second_non_temporal = is_non_temporal(second);
  bool const is_timed = first.timer != nullptr;
  PairTimes times;
  std::int64_t done = 0;
  for (std::int64_t lo = 0; lo < rows; lo += pair.band) {
    auto const hi = std::min(lo + pair.band, rows);
    auto const begin = is_timed ? PhaseTimer::now() : 0;
    compute_band(first, {lo, hi}, is_first_non_temporal);
    if (is_timed) times.first_ns += PhaseTimer::now() - begin;
    auto const past = hi == rows ? later_rows : std::clamp(hi - pair.skew, done, later_rows);
    compute_band(second, {done, past}, is_second_non_temporal);
    done = past;
  }
  return times;
}

}  // namespace tessera
