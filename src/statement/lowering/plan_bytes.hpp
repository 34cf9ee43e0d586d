#pragma once
/// @file
/// The memory that a plan takes, from formulas.

#include <cstdint>

#include "src/statement/statement.hpp"

namespace tessera {

/// Estimates how many bytes the plan of a statement takes for a device that holds as many boxes as
/// any: boxes that it computes, shards that it reads, blocks of its messages, as compact lists keep
/// them. The first 16 KiB do not count: they are little, however many devices a process drives.
///
/// Ranks: pure: the same on every process, so that all of them can drop the same plans.
/// Cost:  O(operands), whatever the number of boxes and devices.
[[nodiscard]] std::int64_t estimated_plan_bytes(Statement const& statement);

}  // namespace tessera
