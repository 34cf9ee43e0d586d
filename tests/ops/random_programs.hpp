#pragma once
/// @file
/// Runs random programs by their seeds, and shrinks those that fail.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/environment.hpp"

namespace tessera::test {

/// True if a program is to be checked after each statement.
inline bool checks_all() {
  return environment("TESSERA_FUZZ_SEED").has_value();
}

/// True if the program of a seed, without the `dropped` statements, agrees with its oracle.
template <class Program>
bool passes(std::uint64_t seed, std::vector<bool> const& dropped, bool is_silent) {
  Program program(seed, dropped);
  if (is_silent) program.be_silent();
  return program.run();
}

/// Leaves out every statement without which the program still fails, then shows what is left.
template <class Program>
void shrink(std::uint64_t seed) {
  std::vector<bool> dropped(Program(seed).statements(), false);
  for (std::size_t s = 0; s < dropped.size(); ++s) {
    dropped[s] = true;
    if (passes<Program>(seed, dropped, true)) dropped[s] = false;
  }
  (void)passes<Program>(seed, dropped, false);
}

/// Runs TESSERA_FUZZ_CASES random programs (else `cases`), from seed TESSERA_FUZZ_FIRST on; or only
/// TESSERA_FUZZ_SEED, checked after each statement.
template <class Program>
void run_random_programs(std::int64_t cases) {
  auto first = environment_integer("TESSERA_FUZZ_FIRST", 0).value_or(1);
  auto const count = environment_integer("TESSERA_FUZZ_CASES", 0).value_or(cases);
  auto last = first + count;
  if (auto const only = environment_integer("TESSERA_FUZZ_SEED", 0)) {
    first = *only;
    last = first + 1;
  }
  std::int64_t failed = 0;
  for (auto seed = first; seed < last && failed < 3; ++seed) {
    INFO("seed ", seed, " of ", Program::rank, " dimensions");
    bool good = false;
    CHECK_NOTHROW(good = (passes<Program>(static_cast<std::uint64_t>(seed), {}, true)));
    CHECK(good);
    if (!good) CHECK_NOTHROW((shrink<Program>(static_cast<std::uint64_t>(seed))));
    failed += good ? 0 : 1;
  }
}

}  // namespace tessera::test
