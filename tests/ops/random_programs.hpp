#pragma once
/// @file
/// Runs random programs by their seeds, and shrinks those that fail.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "support/seeds.hpp"

namespace tessera::test {

/// True if a program is to be checked after each statement.
inline bool checks_all() {
  return is_one_seed();
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

/// Runs the random programs of the seeds that seeds.hpp says, usually `cases`; a single one is
/// checked after each statement.
template <class Program>
void run_random_programs(std::int64_t cases) {
  auto const run = [](std::uint64_t seed) {
    INFO(Program::rank, " dimensions");
    bool good = false;
    CHECK_NOTHROW(good = passes<Program>(seed, {}, true));
    if (!good) shrink<Program>(seed);
    return good;
  };
  CHECK(failed_seeds(cases, run) == 0);
}

}  // namespace tessera::test
