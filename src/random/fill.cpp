#include "tessera/detail/random/fill.hpp"

#include <algorithm>

#include "src/random/loops.hpp"
#include "src/random/make_loops.hpp"

namespace tessera::detail {
namespace {

[[nodiscard]] RandomLoops const& best_loops() {
  static RandomLoops const& best = *random_loops_of_this_processor().front();
  return best;
}

/// Calls write(bits, first cell, cells) for parts of the blocks: the bits of their cells, as a Word
/// each.
template <class Word, class Write>
void visit_parts(PhiloxBlocks blocks, Write const& write) {
  constexpr std::int64_t per_block = 16 / sizeof(Word);
  alignas(64) Word bits[most_philox_blocks * 16 / sizeof(Word)];
  std::int64_t first = 0;
  for (auto left = blocks.count; left > 0; left -= most_philox_blocks) {
    blocks.count = std::min(left, most_philox_blocks);
    fill_random_words(blocks, bits);
    write(bits, first, blocks.count * per_block);
    blocks.first += static_cast<std::uint64_t>(blocks.count);
    first += blocks.count * per_block;
  }
}

}  // namespace

void fill_random_words(PhiloxBlocks const& blocks, std::uint32_t* words) {
  best_loops().words(blocks, words);
}
// The lower word first, as this processor has it, too.
void fill_random_words(PhiloxBlocks const& blocks, std::uint64_t* words) {
  best_loops().words(blocks, reinterpret_cast<std::uint32_t*>(words));
}
void fill_uniform(PhiloxBlocks const& blocks, float* values) {
  best_loops().uniform_floats(blocks, values);
}
void fill_uniform(PhiloxBlocks const& blocks, double* values) {
  best_loops().uniform_doubles(blocks, values);
}
void fill_normal(PhiloxBlocks const& blocks, float* values) {
  visit_parts<std::uint32_t>(blocks, [=](auto const* bits, auto first, auto count) {
    best_loops().normal_floats(bits, values + first, count / 2);
  });
}
void fill_normal(PhiloxBlocks const& blocks, double* values) {
  visit_parts<std::uint64_t>(blocks, [=](auto const* bits, auto first, auto count) {
    best_loops().normal_doubles(bits, values + first, count / 2);
  });
}
void fill_exponential(PhiloxBlocks const& blocks, float* values) {
  visit_parts<std::uint32_t>(blocks, [=](auto const* bits, auto first, auto count) {
    best_loops().exponential_floats(bits, values + first, count);
  });
}
void fill_exponential(PhiloxBlocks const& blocks, double* values) {
  visit_parts<std::uint64_t>(blocks, [=](auto const* bits, auto first, auto count) {
    best_loops().exponential_doubles(bits, values + first, count);
  });
}
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<float> const& interval,
                    float* values) {
  visit_parts<std::uint32_t>(blocks, [&](auto const* bits, auto first, auto count) {
    best_loops().truncated_floats(interval, bits, values + first, count);
  });
}
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<double> const& interval,
                    double* values) {
  visit_parts<std::uint64_t>(blocks, [&](auto const* bits, auto first, auto count) {
    best_loops().truncated_doubles(interval, bits, values + first, count);
  });
}

}  // namespace tessera::detail
