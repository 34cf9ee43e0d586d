#pragma once
/// @file
/// Computes two consecutive statements of a device in one pass over memory.

#include <cstdint>
#include <optional>

#include "src/execution/device_task.hpp"
#include "src/execution/pairs/pair_options.hpp"

namespace tessera {

/// How two statements are computed together: after each band of rows of the first statement, the
/// rows of the second one up to `skew` rows before the end of the band.
struct Pair {
  std::int64_t skew = 0;           ///< rows
  std::int64_t band = 1;           ///< rows
  bool second_uses_first = false;  ///< the second statement touches what the first one writes
  std::int64_t saving = 0;         ///< bytes of memory traffic that one pass saves for each row

  friend bool operator==(Pair const&, Pair const&) = default;
};

/// The bytes that a statement with this plan touches, if it can be computed in bands; else 0. Such
/// a plan has one part, and one write, in place or to a second buffer.
[[nodiscard]] std::int64_t pair_bytes_of(DeviceWork const& plan);

/// How `second` can be computed together with `first`; none if it cannot. Unless pairs are forced,
/// also none if the two share no memory or have too few rows for bands. The messages and copies of
/// `first` are done, but not its kernel; `second` has not begun. pair_bytes_of is positive for both
/// plans. Given a pair, the messages and copies of `second` may come before the kernel of `first`.
[[nodiscard]] std::optional<Pair> pair_of(DeviceTask const& first, DeviceTask const& second,
                                          PairOptions const& options);

/// The times of the two kernels of a pair.
struct PairTimes {
  std::int64_t first_ns = 0;  ///< all bands of the first statement; 0 if timing is off
};

/// Computes the kernels of both statements, band by band. Throws: what a kernel throws.
PairTimes compute_pair(DeviceTask& first, DeviceTask& second, Pair const& pair);

}  // namespace tessera
