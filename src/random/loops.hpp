#pragma once
/// @file
/// The loops that fill arrays with random numbers, once for each kind of processor that the library
/// was built for.

#include <cstdint>
#include <span>

#include "tessera/detail/random/fill.hpp"

namespace tessera::detail {

/// Loops for one kind of processor. Those of every kind give the same bits.
struct RandomLoops {
  char const* name;
  void (*words)(PhiloxBlocks const& blocks, std::uint32_t* words);
  void (*uniform_floats)(PhiloxBlocks const& blocks, float* values);
  void (*uniform_doubles)(PhiloxBlocks const& blocks, double* values);
  void (*normal_floats)(std::uint32_t const* words, float* values, std::int64_t pairs);
  void (*normal_doubles)(std::uint64_t const* words, double* values, std::int64_t pairs);
  void (*exponential_floats)(std::uint32_t const* words, float* values, std::int64_t count);
  void (*exponential_doubles)(std::uint64_t const* words, double* values, std::int64_t count);
  void (*truncated_floats)(NormalInterval<float> const& interval, std::uint32_t const* words,
                           float* values, std::int64_t count);
  void (*truncated_doubles)(NormalInterval<double> const& interval, std::uint64_t const* words,
                            double* values, std::int64_t count);
};

/// The kinds that this processor can run, the fastest first; the last one runs anywhere.
/// Cost: asks the processor at the first call.
[[nodiscard]] std::span<RandomLoops const* const> random_loops_of_this_processor();

}  // namespace tessera::detail
