#pragma once
/// @file
/// Fills buffers with the random numbers of many cells, by the widest vectors that this processor
/// has loops for. Each number has the same bits that formulas.hpp gives for its cell alone.

#include <cstdint>

#include "tessera/detail/kernels/random/formulas.hpp"

namespace tessera::detail {

/// The Philox blocks [first, first + count) of one draw and key; philox.hpp defines these.
struct PhiloxBlocks {
  std::uint64_t key = 0;
  std::uint64_t draw = 0;
  std::uint64_t first = 0;
  std::int64_t count = 0;
};
/// Loops compute blocks in groups of this many, so every buffer needs room for whole groups.
inline constexpr std::int64_t philox_group = 4;

/// Writes the random bits of each cell: 4 words of 32 bits, or 2 of 64, from each block.
/// Threads: any.
void fill_random_words(PhiloxBlocks const& blocks, std::uint32_t* words);
void fill_random_words(PhiloxBlocks const& blocks, std::uint64_t* words);
/// Writes numbers uniformly distributed in [0, 1).
void fill_uniform(PhiloxBlocks const& blocks, float* values);
void fill_uniform(PhiloxBlocks const& blocks, double* values);
/// Writes numbers of the standard normal distribution.
void fill_normal(PhiloxBlocks const& blocks, float* values);
void fill_normal(PhiloxBlocks const& blocks, double* values);
/// Writes numbers of the exponential distribution of rate 1.
void fill_exponential(PhiloxBlocks const& blocks, float* values);
void fill_exponential(PhiloxBlocks const& blocks, double* values);
/// Writes numbers of the standard normal distribution, truncated to an interval.
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<float> const& interval,
                    float* values);
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<double> const& interval,
                    double* values);

}  // namespace tessera::detail
