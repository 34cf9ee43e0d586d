#pragma once
/// @file
/// Runs the kernel of a statement on one device.

#include <cstddef>
#include <cstdint>

#include "src/execution/device_task.hpp"

namespace tessera {

/// Rows [lo, hi) of a part: indices along its first dimension, counted from its first one.
struct Band {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
};

/// The address of an operand at the first index of a part.
[[nodiscard]] std::byte const* operand_address(DeviceTask const& task, PartOperand const& operand);

/// Computes what the task's statement computes. Throws: DeviceError, and what a kernel throws.
void compute(DeviceTask& task);
/// Computes a band of the only part of the task's plan. Throws: as compute.
void compute_band(DeviceTask& task, Band const& band, bool is_non_temporal);
/// The trial of the task's stores; null if all of them go through the caches, or if the time of a
/// launch is not that of its work.
[[nodiscard]] StoreTrial* store_trial_of(DeviceTask const& task);

}  // namespace tessera
