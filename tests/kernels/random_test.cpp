#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/detail/kernels/random/philox.hpp"

#include "src/kernels/processors.hpp"
#include "src/kernels/random/loops.hpp"
#include "src/kernels/random/make_loops.hpp"

using namespace tessera;
using detail::NormalInterval;
using detail::PhiloxBlocks;

/// The generator's known answers, and the loops that compute many cells at once.
TEST_SUITE_BEGIN("kernels/random");

namespace {

using Words = std::array<std::uint32_t, 4>;

Words words_of(std::uint64_t key, std::uint64_t draw, std::uint64_t block) {
  auto const made = detail::philox(key, draw, block);
  return {made.words[0], made.words[1], made.words[2], made.words[3]};
}

/// Bounds with the probabilities of the normal distribution there.
constexpr NormalInterval<float> around_zero{-1.0F, 2.5F, 0.15865525393145705, 0.0062096653257761348,
                                            0.83513508074276681};
constexpr NormalInterval<double> tail{4.0, 1e300, 0.99996832875816688, 0.0, 3.1671241833119924e-05};

constexpr PhiloxBlocks some_blocks[] = {
    {0, 0, 0, 1},  {1, 0, 0, 4},       {~0ULL, 7, 3, 5},          {42, 1, (1ULL << 32U) - 2, 64},
    {9, 0, 0, 63}, {3, ~0ULL, 12, 58}, {1ULL << 40U, 2, 1000, 64}};

}  // namespace

TEST_CASE("the known answers of Philox 4x32-10") {
  constexpr auto all = ~std::uint64_t{0};

  CHECK(words_of(0, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(words_of(all, all, all) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words_of(0x299f31d0'a4093822, 0x03707344'13198a2e, 0x85a308d3'243f6a88) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a cell of 32 bits is a word of its block, and one of 64 bits two") {
  CHECK(detail::random_word<std::uint32_t>(0, 0, 2) == 0xbc57ac4c);
  CHECK(detail::random_word<std::uint64_t>(0, 0, 0) == 0xe169c58d'6627e8d5);
  CHECK(detail::random_word<std::uint64_t>(0, 0, 1) == 0x9b00dbd8'bc57ac4c);
}

TEST_CASE("the loops of all kinds of processors give the same bits") {
  auto const& plain = *kernels_of_this_processor().back().random;
  auto const run = [](auto const& loops, PhiloxBlocks const& blocks) {
    constexpr auto most = static_cast<std::size_t>(detail::most_random_words);
    std::vector<std::uint32_t> words(most);
    std::vector<std::uint64_t> doubles(most / 2);
    loops.words(blocks, words.data());
    std::vector<float> floats(4 * most);
    std::vector<double> values(4 * most);
    loops.uniform_floats(blocks, floats.data() + 3 * most);
    loops.uniform_doubles(blocks, values.data() + 3 * most);
    std::memcpy(doubles.data(), words.data(), 8 * doubles.size());
    auto const count = 4 * blocks.count;
    loops.normal_floats(words.data(), floats.data(), count / 2);
    loops.exponential_floats(words.data(), floats.data() + most, count);
    loops.truncated_floats(around_zero, words.data(), floats.data() + 2 * most, count);
    loops.normal_doubles(doubles.data(), values.data(), count / 4);
    loops.exponential_doubles(doubles.data(), values.data() + most, count / 2);
    loops.truncated_doubles(tail, doubles.data(), values.data() + 2 * most, count / 2);
    return std::tuple(words, floats, values);
  };
  for (auto const& processor : kernels_of_this_processor())
    for (auto const& blocks : some_blocks) {
      CAPTURE(processor.name);
      CAPTURE(blocks.count);
      // Past whole blocks anything may lie.
      auto whole_groups = blocks;
      whole_groups.count += -blocks.count & 3;
      CHECK(run(*processor.random, whole_groups) == run(plain, whole_groups));
    }
}

TEST_SUITE_END();
