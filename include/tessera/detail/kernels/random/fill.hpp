#pragma once
/// @file
/// Random numbers of many cells at once, by vectors of the processor that runs it. Each is what
/// formulas.hpp gives for its cell alone, to the bit.

#include <cstdint>

#include "tessera/detail/kernels/random/formulas.hpp"

namespace tessera::detail {

/// Blocks [first, first + count) of a draw under a key.
struct PhiloxBlocks {
  std::uint64_t key = 0;
  std::uint64_t draw = 0;
  std::uint64_t first = 0;
  std::int64_t count = 0;
};
/// Blocks are computed in groups of so many: what is filled needs room for whole groups.
inline constexpr std::int64_t philox_group = 4;

/// Writes the bits of each cell, 4 words or 2 double words of each block.
/// Threads: any.
void fill_random_words(PhiloxBlocks const& blocks, std::uint32_t* words);
void fill_random_words(PhiloxBlocks const& blocks, std::uint64_t* words);
/// Numbers of [0, 1).
void fill_uniform(PhiloxBlocks const& blocks, float* values);
void fill_uniform(PhiloxBlocks const& blocks, double* values);
/// Numbers of the standard normal distribution.
void fill_normal(PhiloxBlocks const& blocks, float* values);
void fill_normal(PhiloxBlocks const& blocks, double* values);
/// Numbers of the exponential distribution of rate 1.
void fill_exponential(PhiloxBlocks const& blocks, float* values);
void fill_exponential(PhiloxBlocks const& blocks, double* values);
/// Numbers of the normal distribution between two bounds.
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<float> const& interval,
                    float* values);
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<double> const& interval,
                    double* values);

}  // namespace tessera::detail
