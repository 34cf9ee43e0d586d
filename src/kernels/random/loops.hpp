#pragma once
/// @file
/// The table of compiled random-number loops for one kind of processor.

#include <cstdint>

#include "tessera/detail/kernels/random/fill.hpp"

namespace tessera::detail {

/// The random-number loops that were compiled for one kind of processor.
struct RandomLoops {
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

}  // namespace tessera::detail
