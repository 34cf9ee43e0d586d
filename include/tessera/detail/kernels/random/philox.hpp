#pragma once
/// @file
/// Philox 4x32-10: a function of a 128-bit counter and a 64-bit key, whose result has 128 bits.
///
/// The counter has two halves of 64 bits, (block, draw). A block serves 4 cells of up to 32 bits,
/// or 2 of 64 bits. Of the former, cell i takes word i mod 4 of block i / 4. Of the latter, it
/// takes half i mod 2 of block i / 2: two words, the lower one first. Draw 0 serves all cells, and
/// draws 1, 2 ... cells whose number was rejected. New keys come from the last three draws.
///
/// Source: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (2011).

#include <cstdint>

#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

/// The draws that new keys come from.
inline constexpr std::uint64_t draw_of_split = ~std::uint64_t{0};
inline constexpr std::uint64_t draw_of_fold_in = draw_of_split - 1;
inline constexpr std::uint64_t draw_of_step = draw_of_split - 2;

/// Philox's multipliers, and the increments of its key's two words from round to round.
inline constexpr std::uint32_t philox_multiplier0 = 0xD251'1F53U;
inline constexpr std::uint32_t philox_multiplier1 = 0xCD9E'8D57U;
inline constexpr std::uint32_t philox_key_increment0 = 0x9E37'79B9U;
inline constexpr std::uint32_t philox_key_increment1 = 0xBB67'AE85U;
inline constexpr int philox_rounds = 10;

/// The 128 bits that one counter gives. Neighbouring words form a 64-bit word, the lower one first.
struct PhiloxWords {
  std::uint32_t words[4];

  /// The bits of cell i, which must be in this block.
  template <class Word>
  [[nodiscard]] TESSERA_FORMULA Word cell(std::uint64_t i) const {
    if constexpr (sizeof(Word) == 8) {
      auto const first = 2 * (i % 2);
      return words[first] | (std::uint64_t{words[first + 1]} << 32U);
    } else {
      return words[i % 4];
    }
  }
};

/// The words that the counter (block, draw) gives under a key.
[[nodiscard]] TESSERA_FORMULA PhiloxWords philox(std::uint64_t key, std::uint64_t draw,
                                                 std::uint64_t block) {
  auto const low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  auto const high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
  std::uint32_t c0 = low(block);
  std::uint32_t c1 = high(block);
  std::uint32_t c2 = low(draw);
  std::uint32_t c3 = high(draw);
  std::uint32_t k0 = low(key);
  std::uint32_t k1 = high(key);
  for (int round = 0; round < philox_rounds; ++round) {
    auto const p0 = std::uint64_t{philox_multiplier0} * c0;
    auto const p1 = std::uint64_t{philox_multiplier1} * c2;
    c0 = high(p1) ^ c1 ^ k0;
    c1 = low(p1);
    c2 = high(p0) ^ c3 ^ k1;
    c3 = low(p0);
    k0 += philox_key_increment0;
    k1 += philox_key_increment1;
  }
  return {{c0, c1, c2, c3}};
}

/// The random bits of cell i in a draw. Word has 32 or 64 bits.
template <class Word>
[[nodiscard]] TESSERA_FUNCTION Word random_word(std::uint64_t key, std::uint64_t draw,
                                                std::uint64_t i) {
  return philox(key, draw, i / (16 / sizeof(Word))).cell<Word>(i);
}

/// Derives key number `i` from a key by one of the draws above, such as draw_of_split.
[[nodiscard]] TESSERA_FUNCTION inline std::uint64_t derived_key(std::uint64_t key,
                                                                std::uint64_t draw,
                                                                std::uint64_t i) {
  return random_word<std::uint64_t>(key, draw, i);
}

}  // namespace tessera::detail
