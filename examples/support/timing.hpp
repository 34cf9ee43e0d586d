#pragma once
/// @file
/// The time of a step, for examples that compare two ways to compute it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <vector>

#include <tessera/tessera.hpp>

namespace examples {

/// The microseconds of a step. Ranks: collective.
template <class Step>
[[nodiscard]] double time(std::int64_t steps, Step const& step) {
  tessera::synchronize();
  auto const start = std::chrono::steady_clock::now();
  for (std::int64_t t = 0; t < steps; ++t) step();
  tessera::synchronize();
  std::chrono::duration<double, std::micro> const passed = std::chrono::steady_clock::now() - start;
  return passed.count() / static_cast<double>(steps);
}

/// The middle one of some numbers, at least one.
[[nodiscard]] inline double median(std::vector<double> values) {
  auto const middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace examples
