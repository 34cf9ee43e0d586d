#pragma once
/// @file
/// Counts what planning looks at.

#include <cstdint>

namespace tessera {

/// Test hook: counts, in this thread, the devices that `visit_owners` and the planner looked at.
class CountVisits {
 public:
  CountVisits();
  ~CountVisits() = default;
  CountVisits(CountVisits const&) = delete;
  CountVisits& operator=(CountVisits const&) = delete;
  [[nodiscard]] std::int64_t devices() const;
  /// Counts one visit of a device.
  static void note();

 private:
  std::int64_t before_;  ///< this thread's count when this object was made
};

}  // namespace tessera
