#pragma once
/// @file
/// Checks of the numbers of steps that loops are given.

#include <cstdint>

namespace tessera::detail {

/// Throws: UsageError if it is negative.
void check_steps(std::int64_t steps);
/// Throws: UsageError if it is not positive.
void check_interval(std::int64_t steps);

}  // namespace tessera::detail
