#include "tessera/detail/random/philox.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/random/random.hpp"

#include "src/base/text.hpp"
#include "src/random/loops.hpp"
#include "src/random/make_loops.hpp"

using namespace tessera;
using detail::PhiloxBlocks;

/// The generator's known answers, and the loops that compute many cells at once.
TEST_SUITE_BEGIN("random/philox");

namespace {

using Words = std::array<std::uint32_t, 4>;

Words words_of(std::uint64_t key, std::uint64_t draw, std::uint64_t block) {
  auto const made = detail::philox(key, draw, block);
  return {made.words[0], made.words[1], made.words[2], made.words[3]};
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

constexpr PhiloxBlocks some_blocks[] = {
    {0, 0, 0, 1},  {1, 0, 0, 4},       {~0ULL, 7, 3, 5},          {42, 1, (1ULL << 32U) - 2, 64},
    {9, 0, 0, 63}, {3, ~0ULL, 12, 58}, {1ULL << 40U, 2, 1000, 64}};

/// Whether D fills whole blocks with what its cells get alone.
template <class D>
void check_fill(D const& distribution) {
  using Raw = typename D::Raw;
  constexpr std::uint64_t per_block = sizeof(Raw) == 8 ? 2 : 4;
  for (auto blocks : {some_blocks[0], some_blocks[2], some_blocks[3], {9, 0, 5, 301}}) {
    blocks.draw = 0;
    std::vector<Raw> raws(static_cast<std::size_t>(4 * 304));
    distribution.fill(blocks, raws.data());
    bool is_same = true;
    for (std::uint64_t j = 0; j < per_block * static_cast<std::uint64_t>(blocks.count); ++j)
      is_same = is_same &&
                same_bits(raws[j], distribution.raw_at(blocks.key, blocks.first * per_block + j));
    CAPTURE(blocks.count);
    CHECK(is_same);
  }
}

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

TEST_CASE("keys are numbers of draws that no cell uses") {
  random::Key const key(0x299f31d0'a4093822);
  auto const made = [&](std::uint64_t draw, std::uint64_t i) {
    auto const words = words_of(key.value(), draw, i / 2);
    auto const first = 2 * (i % 2);
    return random::Key(words[first] | std::uint64_t{words[first + 1]} << 32U);
  };
  auto const [first, second, third] = key.split<3>();

  CHECK(first == made(~0ULL, 0));
  CHECK(second == made(~0ULL, 1));
  CHECK(third == made(~0ULL, 2));
  CHECK(key.split(3) == std::vector{first, second, third});
  CHECK(key.split(0).empty());
  CHECK(key.fold_in(7) == made(~0ULL - 1, 7));
  CHECK(key.fold_in(-1) == made(~0ULL - 1, ~0ULL));
  CHECK(random::Key(key.at(Step(5)).value_at(5)) == made(~0ULL - 2, 5));
  CHECK(random::Key(key.at(Step(5) + 2).value_at(5)) == made(~0ULL - 2, 7));
  auto const later = key.at(Step(0)).fold_in(3).split<2>()[1];
  CHECK(random::Key(later.value_at(9)) ==
        random::Key(key.at(Step(9)).value_at(9)).fold_in(3).split<2>()[1]);
}

TEST_CASE("the loops of all kinds of processors give the same bits") {
  auto const& plain = *detail::random_loops_of_this_processor().back();
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
    loops.truncated_floats(detail::normal_interval(-1.0F, 2.5F), words.data(),
                           floats.data() + 2 * most, count);
    loops.normal_doubles(doubles.data(), values.data(), count / 4);
    loops.exponential_doubles(doubles.data(), values.data() + most, count / 2);
    loops.truncated_doubles(detail::normal_interval(4.0, 1e300), doubles.data(),
                            values.data() + 2 * most, count / 2);
    return std::tuple(words, floats, values);
  };
  for (auto const* const loops : detail::random_loops_of_this_processor())
    for (auto const& blocks : some_blocks) {
      CAPTURE(loops->name);
      CAPTURE(blocks.count);
      // Past whole blocks anything may lie.
      auto whole_groups = blocks;
      whole_groups.count += -blocks.count & 3;
      CHECK(run(*loops, whole_groups) == run(plain, whole_groups));
    }
}

TEST_CASE("cells in blocks get what they get alone") {
  check_fill(detail::UniformNumbers<float>());
  check_fill(detail::UniformNumbers<double>());
  check_fill(detail::NormalNumbers<float>());
  check_fill(detail::NormalNumbers<double>());
  check_fill(detail::ExponentialNumbers<float>());
  check_fill(detail::ExponentialNumbers<double>());
  check_fill(detail::TruncatedNormalNumbers<float>{detail::normal_interval(-2.0F, 0.5F)});
  check_fill(detail::TruncatedNormalNumbers<double>{detail::normal_interval(6.0, 7.0)});
  check_fill(detail::random_integers<std::int32_t>(-5, 7));
  check_fill(detail::random_integers<std::int32_t>(-(1 << 30), (1 << 30) + 1));
  check_fill(detail::random_integers<std::int64_t>(0, (std::int64_t{1} << 62) + 3));
}

TEST_SUITE_END();
