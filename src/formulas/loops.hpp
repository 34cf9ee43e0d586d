#pragma once
/// @file
/// Loops over many arguments, once for each kind of processor that the library was built for.

#include <array>
#include <cstdint>
#include <span>

#include "tessera/detail/formulas/functions.hpp"

namespace tessera::detail {

/// All functions for one floating type.
template <class R>
struct Loops {
  using One = void (*)(R const* arguments, R* values, std::int64_t count);
  using Two = void (*)(R const* first, R const* second, R* values, std::int64_t count);
  std::array<One, function_count> one;
  std::array<Two, function2_count> two;
};

/// The loops for one kind of processor. Those of every kind give the same bits.
struct ProcessorLoops {
  char const* name;
  Loops<float> floats;
  Loops<double> doubles;
};

/// The kinds that this processor can run, the fastest first; the last one runs anywhere.
/// Cost: asks the processor at the first call.
[[nodiscard]] std::span<ProcessorLoops const* const> loops_of_this_processor();

}  // namespace tessera::detail
