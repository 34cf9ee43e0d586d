#pragma once
/// @file
/// Two statements that follow each other on a device, computed in one pass over memory.

#include <cstdint>
#include <optional>

#include "src/execution/device_task.hpp"
#include "src/execution/pairs/pair_options.hpp"

namespace tessera {

/// How two statements are computed together: a band of rows of the first one, then the rows of the
/// second one that lie `skew` and more rows behind.
struct Pair {
  std::int64_t skew = 0;
  std::int64_t band = 1;           ///< rows
  bool second_uses_first = false;  ///< touches what the first one writes
  std::int64_t saving = 0;         ///< bytes a row that need not go through memory again

  friend bool operator==(Pair const&, Pair const&) = default;
};

/// The bytes that a plan touches, if its statements may be one of a pair; else 0. They have one
/// part, and write it in place or to a second buffer.
[[nodiscard]] std::int64_t pair_bytes_of(DeviceWork const& plan);

/// How the statement of `second`, which has not begun, can be computed together with that of
/// `first`, of which only the cells that it reads are in place. Both plans have pair_bytes_of. The
/// messages and copies of the second one may then come before the first one's kernel.
/// Nothing if the two cannot be computed together, or if too few rows make bands.
[[nodiscard]] std::optional<Pair> pair_of(DeviceTask const& first, DeviceTask const& second,
                                          PairOptions const& options);

/// Times of a pair's kernels.
struct PairTimes {
  std::int64_t first_ns = 0;  ///< of the first one alone; 0 where nobody looks
};

/// Computes a pair. Throws: what a kernel throws.
PairTimes compute_pair(DeviceTask& first, DeviceTask& second, Pair const& pair);

}  // namespace tessera
