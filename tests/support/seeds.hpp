#pragma once
/// @file
/// Random cases by their seeds.

#include <cstdint>

#include <doctest/doctest.h>

#include "src/base/environment.hpp"

namespace tessera::test {

/// Runs the cases of `count` seeds, or as the variables say: of TESSERA_FUZZ_SEED alone, or of
/// TESSERA_FUZZ_CASES seeds from TESSERA_FUZZ_FIRST on. Ends after three that fail, and returns how
/// many did.
template <class Run>
[[nodiscard]] std::int64_t failed_seeds(std::int64_t count, Run const& run) {
  auto const only = environment_integer("TESSERA_FUZZ_SEED", 0);
  auto const first = only.value_or(environment_integer("TESSERA_FUZZ_FIRST", 0).value_or(1));
  auto const cases = only ? 1 : environment_integer("TESSERA_FUZZ_CASES", 0).value_or(count);
  std::int64_t failed = 0;
  for (auto seed = first; seed < first + cases && failed < 3; ++seed) {
    if (run(static_cast<std::uint64_t>(seed))) continue;
    MESSAGE("seed ", seed);
    ++failed;
  }
  return failed;
}

}  // namespace tessera::test
