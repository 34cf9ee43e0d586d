#pragma once
/// @file
/// Makes the random-number loops for one kind of processor.

#include <cstdint>

#include "tessera/detail/kernels/random/philox.hpp"

#include "src/kernels/random/loops.hpp"

namespace tessera::detail {

/// Upper bound of the blocks that are converted to numbers at a time; their buffers fit into the
/// level-1 cache.
inline constexpr std::int64_t most_philox_blocks = 64;
inline constexpr std::int64_t most_random_words = 4 * most_philox_blocks;
inline constexpr std::int64_t most_random_pairs = most_random_words / 2;

/// As fill_random_words, one block at a time.
inline void write_words(PhiloxBlocks const& blocks, std::uint32_t* __restrict words) {
  for (std::int64_t i = 0; i < blocks.count; ++i) {
    auto const of_block =
        philox(blocks.key, blocks.draw, blocks.first + static_cast<std::uint64_t>(i));
    for (int word = 0; word < 4; ++word) words[4 * i + word] = of_block.words[word];
  }
}

/// As fill_uniform, one block at a time.
template <class R>
void write_uniform(PhiloxBlocks const& blocks, R* __restrict values) {
  constexpr std::int64_t per_block = 16 / sizeof(RandomBits<R>);
  for (std::int64_t i = 0; i < blocks.count; ++i) {
    auto const of_block =
        philox(blocks.key, blocks.draw, blocks.first + static_cast<std::uint64_t>(i));
    for (std::int64_t cell = 0; cell < per_block; ++cell)
      values[per_block * i + cell] = formula::uniform_number<R>(
          of_block.cell<RandomBits<R>>(static_cast<std::uint64_t>(cell)));
  }
}
/// As fill_normal, from the words of `pairs` pairs. Three loops, since the compiler vectorizes the
/// formula only if all its operands and results are contiguous.
template <class R>
void write_normal(RandomBits<R> const* __restrict words, R* __restrict values, std::int64_t pairs) {
  alignas(64) RandomBits<R> bits[2][most_random_pairs];
  alignas(64) R first[most_random_pairs];
  alignas(64) R second[most_random_pairs];
  for (std::int64_t i = 0; i < pairs; ++i) {
    bits[0][i] = words[2 * i];
    bits[1][i] = words[2 * i + 1];
  }
  for (std::int64_t i = 0; i < pairs; ++i) {
    auto const made = formula::normal_pair<R>(bits[0][i], bits[1][i]);
    first[i] = made.first;
    second[i] = made.second;
  }
  for (std::int64_t i = 0; i < pairs; ++i) {
    values[2 * i] = first[i];
    values[2 * i + 1] = second[i];
  }
}
template <class R>
void write_exponential(RandomBits<R> const* __restrict words, R* __restrict values,
                       std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = formula::exponential_number<R>(words[i]);
}
template <class R>
void write_truncated(NormalInterval<R> const& interval, RandomBits<R> const* __restrict words,
                     R* __restrict values, std::int64_t count) {
  auto const local = interval;
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = formula::truncated_normal_number<R>(local, words[i]);
}

/// The loops above as types with a run(), which a Processor's run<F> requires.
struct WriteWords {
  static void run(PhiloxBlocks const& blocks, std::uint32_t* to) { write_words(blocks, to); }
};
template <class R>
struct WriteUniform {
  static void run(PhiloxBlocks const& blocks, R* to) { write_uniform(blocks, to); }
};
template <class R>
struct WriteNormal {
  static void run(RandomBits<R> const* words, R* values, std::int64_t pairs) {
    write_normal(words, values, pairs);
  }
};
template <class R>
struct WriteExponential {
  static void run(RandomBits<R> const* words, R* values, std::int64_t count) {
    write_exponential(words, values, count);
  }
};
template <class R>
struct WriteTruncated {
  static void run(NormalInterval<R> const& interval, RandomBits<R> const* words, R* values,
                  std::int64_t count) {
    write_truncated(interval, words, values, count);
  }
};

/// F::run, compiled for a Processor. The parameter is for deduction of the arguments only.
template <class F, class Processor, class... Arguments>
[[nodiscard]] constexpr auto compiled_for(void (*)(Arguments...)) {
  return &Processor::template run<F, Arguments...>;
}
/// The loops for a kind of processor. Processor::run<F>(arguments...) calls F::run, compiled for
/// that processor.
template <class Processor, class Words = WriteWords, template <class> class Uniform = WriteUniform>
[[nodiscard]] constexpr RandomLoops make_random_loops() {
  auto const compiled = []<class F>(F) { return compiled_for<F, Processor>(&F::run); };
  return {compiled(Words()),
          compiled(Uniform<float>()),
          compiled(Uniform<double>()),
          compiled(WriteNormal<float>()),
          compiled(WriteNormal<double>()),
          compiled(WriteExponential<float>()),
          compiled(WriteExponential<double>()),
          compiled(WriteTruncated<float>()),
          compiled(WriteTruncated<double>())};
}

}  // namespace tessera::detail
