#pragma once
/// @file
/// Which seeds a random test runs, and the loop that runs them. Usually a test runs its own number
/// of seeds from 1 on. These variables tell all random tests of a program otherwise:
///
///     TESSERA_FUZZ_SEED=n    seed n alone
///     TESSERA_FUZZ_FIRST=n   n is the first seed
///     TESSERA_FUZZ_CASES=n   n seeds
///     TESSERA_FUZZ_SLICE=k   1 + k * 1,000,000 is the first seed, and a quarter are run: each of
///                            many runs has a k of its own

#include <cstdint>
#include <initializer_list>

#include <doctest/doctest.h>

#include "src/base/environment.hpp"

namespace tessera::test {

/// The first seeds of two slices are so far apart.
inline constexpr std::int64_t slice_seeds = 1'000'000;
/// The usual cases are so many times those of a slice.
inline constexpr std::int64_t slice_share = 4;

/// Seeds that follow each other.
struct Seeds {
  std::int64_t first = 1;
  std::int64_t count = 0;
  bool are_chosen = false;  ///< by a variable
};

/// True if TESSERA_FUZZ_SEED names a seed. Tests may look closer then, and take longer.
[[nodiscard]] inline bool is_one_seed() {
  return environment("TESSERA_FUZZ_SEED").has_value();
}

/// The seeds of a test that usually runs `usual` of them.
[[nodiscard]] inline Seeds seeds_to_run(std::int64_t usual) {
  auto const slice = environment_integer("TESSERA_FUZZ_SLICE", 0);
  auto const first = environment_integer("TESSERA_FUZZ_FIRST", 0);
  auto const cases = environment_integer("TESSERA_FUZZ_CASES", 1);
  auto const only = environment_integer("TESSERA_FUZZ_SEED", 0);
  Seeds seeds;
  seeds.first = only.value_or(first.value_or(1 + slice.value_or(0) * slice_seeds));
  auto const of_slice = (usual + slice_share - 1) / slice_share;
  seeds.count = only ? 1 : cases.value_or(slice ? of_slice : usual);
  seeds.are_chosen = slice || first || cases || only;
  return seeds;
}

/// The seed of a test that draws all its cases from one generator: usually `usual`; of another
/// slice, or from another first seed on, another one.
[[nodiscard]] inline std::uint64_t seed_of_all(std::uint64_t usual) {
  return usual + static_cast<std::uint64_t>(seeds_to_run(1).first) - 1;
}

/// True if the case of a seed does not fail; otherwise the output names the seed.
template <class Run>
[[nodiscard]] bool passes_seed(std::uint64_t seed, Run const& run) {
  INFO("seed ", seed);
  bool passed = false;
  CHECK_NOTHROW(passed = run(seed));
  if (!passed) MESSAGE("seed ", seed, " fails");
  return passed;
}

/// Runs the case of each seed: `run(seed)` returns true if it is right, on every process alike.
/// Ends after three that fail, and returns how many did.
template <class Run>
[[nodiscard]] std::int64_t failed_seeds(Seeds const& seeds, Run const& run) {
  auto const end = seeds.first + seeds.count;
  if (seeds.are_chosen) MESSAGE("seeds ", seeds.first, " to ", end - 1);
  std::int64_t failed = 0;
  for (auto seed = seeds.first; seed < end && failed < 3; ++seed)
    failed += passes_seed(static_cast<std::uint64_t>(seed), run) ? 0 : 1;
  return failed;
}

/// The same for as many seeds as the variables say, or `usual`.
template <class Run>
[[nodiscard]] std::int64_t failed_seeds(std::int64_t usual, Run const& run) {
  return failed_seeds(seeds_to_run(usual), run);
}

/// The same for seeds that once failed, whatever the variables say.
template <class Run>
[[nodiscard]] std::int64_t failed_of_seeds(std::initializer_list<std::uint64_t> seeds,
                                           Run const& run) {
  std::int64_t failed = 0;
  for (auto const seed : seeds) failed += passes_seed(seed, run) ? 0 : 1;
  return failed;
}

}  // namespace tessera::test
