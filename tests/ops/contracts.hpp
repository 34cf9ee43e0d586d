#pragma once
/// @file
/// Tests that ask how many devices the job has before they use them.

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/runtime/runtime.hpp"

namespace tessera::test {

/// True if the job has so many devices; else says that the test is left out.
[[nodiscard]] inline bool has_devices(std::int64_t count) {
  if (device_count() >= count) return true;
  MESSAGE("left out: it needs ", count, " devices and there are ", device_count());
  return false;
}

/// Those of 1, 2, 3, 4 and 8 devices that the job has.
[[nodiscard]] inline std::vector<std::int64_t> device_counts() {
  std::vector<std::int64_t> counts;
  for (std::int64_t const count : {1, 2, 3, 4, 8})
    if (count <= device_count()) counts.push_back(count);
  return counts;
}

}  // namespace tessera::test
