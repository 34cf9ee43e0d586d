#pragma once
/// @file
/// Loops over many arguments.

#include <array>
#include <cstdint>

#include "tessera/detail/kernels/formulas/functions.hpp"

namespace tessera::detail {

/// All functions for one floating type.
template <class R>
struct Loops {
  using One = void (*)(R const* arguments, R* values, std::int64_t count);
  using Two = void (*)(R const* first, R const* second, R* values, std::int64_t count);
  std::array<One, function_count> one;
  std::array<Two, function2_count> two;
};

/// The loops for one kind of processor.
struct FormulaLoops {
  Loops<float> floats;
  Loops<double> doubles;
};

}  // namespace tessera::detail
