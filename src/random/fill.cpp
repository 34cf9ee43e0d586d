#include "tessera/detail/random/fill.hpp"

#include "src/random/loops.hpp"
#include "src/random/make_loops.hpp"

namespace tessera::detail {
namespace {

[[nodiscard]] RandomLoops const& best_loops() {
  static RandomLoops const& best = *random_loops_of_this_processor().front();
  return best;
}

/// The bits of so many blocks, as cells of 32 or of 64 bits.
template <class Word>
struct Bits {
  explicit Bits(PhiloxBlocks const& blocks)
      : count(blocks.count * 16 / static_cast<std::int64_t>(sizeof(Word))) {
    fill_words(blocks, words);
  }
  alignas(64) Word words[most_random_words * 4 / sizeof(Word)];
  std::int64_t count;
};

}  // namespace

void fill_words(PhiloxBlocks const& blocks, std::uint32_t* words) {
  best_loops().words(blocks, words);
}
// The lower word first, as this processor has it, too.
void fill_words(PhiloxBlocks const& blocks, std::uint64_t* words) {
  best_loops().words(blocks, reinterpret_cast<std::uint32_t*>(words));
}
void fill_normal(PhiloxBlocks const& blocks, float* values) {
  Bits<std::uint32_t> const bits(blocks);
  best_loops().normal_floats(bits.words, values, bits.count / 2);
}
void fill_normal(PhiloxBlocks const& blocks, double* values) {
  Bits<std::uint64_t> const bits(blocks);
  best_loops().normal_doubles(bits.words, values, bits.count / 2);
}
void fill_exponential(PhiloxBlocks const& blocks, float* values) {
  Bits<std::uint32_t> const bits(blocks);
  best_loops().exponential_floats(bits.words, values, bits.count);
}
void fill_exponential(PhiloxBlocks const& blocks, double* values) {
  Bits<std::uint64_t> const bits(blocks);
  best_loops().exponential_doubles(bits.words, values, bits.count);
}
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<float> const& interval,
                    float* values) {
  Bits<std::uint32_t> const bits(blocks);
  best_loops().truncated_floats(interval, bits.words, values, bits.count);
}
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<double> const& interval,
                    double* values) {
  Bits<std::uint64_t> const bits(blocks);
  best_loops().truncated_doubles(interval, bits.words, values, bits.count);
}

}  // namespace tessera::detail
