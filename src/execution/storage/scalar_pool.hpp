#pragma once
/// @file
/// Scalars that nobody names any more, to serve again.

#include <cstdint>
#include <memory>
#include <vector>

#include "src/execution/storage/scalar_state.hpp"

namespace tessera {

/// The first few scalars that were made. One that only the pool still holds is given out again, so
/// that a reduction in a loop allocates nothing.
///
/// Each copy of the value is written by one worker, in order, so no earlier task can come after
/// those of its new use.
/// Threads: the caller's.
class ScalarPool {
 public:
  /// `local_devices`: the number of copies of every scalar.
  explicit ScalarPool(std::int64_t local_devices) : local_devices_(local_devices) {}

  /// A scalar that nobody else names.
  [[nodiscard]] std::shared_ptr<ScalarState> make(std::uint64_t number);
  /// True if it is one of those that are kept.
  [[nodiscard]] bool holds(std::shared_ptr<ScalarState> const& scalar) const;

  /// The 64 tasks of a worker's ring may each name a new one, and a program holds some. One that
  /// holds more gets new ones.
  static constexpr std::size_t most_kept = 96;

 private:
  std::int64_t local_devices_;
  std::vector<std::shared_ptr<ScalarState>> scalars_;
};

}  // namespace tessera
