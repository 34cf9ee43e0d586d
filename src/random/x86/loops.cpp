// Loops for x86-64 with AVX2. The attribute stands at each function, not at the file: inline
// functions of other headers must not be compiled for processors that may lack it.

#include "src/random/loops.hpp"

#include <vector>

#include <immintrin.h>

#include "src/random/make_loops.hpp"

#define TESSERA_AVX2 [[gnu::target("avx2,fma"), gnu::flatten]]

namespace tessera::detail {
namespace {

/// Two keys of a round, for each of four blocks side by side.
struct RoundKeys {
  alignas(32) std::uint64_t first[4];
  alignas(32) std::uint64_t second[4];
};
/// The keys of all rounds.
struct KeySchedule {
  RoundKeys rounds[philox_rounds];

  explicit KeySchedule(std::uint64_t key) {
    auto first = static_cast<std::uint32_t>(key);
    auto second = static_cast<std::uint32_t>(key >> 32U);
    for (auto& round : rounds) {
      for (auto& lane : round.first) lane = first;
      for (auto& lane : round.second) lane = second;
      first += philox_growth0;
      second += philox_growth1;
    }
  }
};

/// Four blocks at once, a word of each in the lower half of a lane of 64 bits: products of such
/// halves are one instruction, and do not see what the upper halves hold.
[[gnu::target("avx2"), gnu::always_inline]] inline void write_four_blocks(KeySchedule const& keys,
                                                                          __m256i first,
                                                                          std::uint64_t draw,
                                                                          std::uint32_t* words) {
  auto const multiplier0 = _mm256_set1_epi64x(philox_multiplier0);
  auto const multiplier1 = _mm256_set1_epi64x(philox_multiplier1);
  auto c0 = first;
  auto c1 = _mm256_srli_epi64(first, 32);
  auto c2 = _mm256_set1_epi64x(static_cast<long long>(draw));
  auto c3 = _mm256_srli_epi64(c2, 32);
#pragma GCC unroll 10
  for (int r = 0; r < philox_rounds; ++r) {
    auto const key0 = _mm256_load_si256(reinterpret_cast<__m256i const*>(keys.rounds[r].first));
    auto const key1 = _mm256_load_si256(reinterpret_cast<__m256i const*>(keys.rounds[r].second));
    auto const p0 = _mm256_mul_epu32(c0, multiplier0);
    auto const p1 = _mm256_mul_epu32(c2, multiplier1);
    c0 = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(c1, key0));
    c1 = p1;
    c2 = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(c3, key1));
    c3 = p0;
  }
  // In pairs (w0 w1) and (w2 w3) of each block, then block by block.
  constexpr int odd_words = 0xaa;
  auto const low = _mm256_blend_epi32(c0, _mm256_slli_epi64(c1, 32), odd_words);
  auto const high = _mm256_blend_epi32(c2, _mm256_slli_epi64(c3, 32), odd_words);
  auto const blocks02 = _mm256_unpacklo_epi64(low, high);
  auto const blocks13 = _mm256_unpackhi_epi64(low, high);
  auto* const to = reinterpret_cast<__m256i*>(words);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(blocks02, blocks13, 0x20));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(blocks02, blocks13, 0x31));
}

struct Avx2 {
  TESSERA_AVX2 static void words(PhiloxBlocks const& blocks, std::uint32_t* to) {
    KeySchedule const keys(blocks.key);
    auto first = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(blocks.first)),
                                  _mm256_set_epi64x(3, 2, 1, 0));
    for (std::int64_t i = 0; i < blocks.count; i += philox_group) {
      write_four_blocks(keys, first, blocks.draw, to + 4 * i);
      first = _mm256_add_epi64(first, _mm256_set1_epi64x(philox_group));
    }
  }
  template <class R>
  TESSERA_AVX2 static void normal(RandomBits<R> const* words, R* values, std::int64_t pairs) {
    write_normal(words, values, pairs);
  }
  template <class R>
  TESSERA_AVX2 static void exponential(RandomBits<R> const* words, R* values, std::int64_t count) {
    write_exponential(words, values, count);
  }
  template <class R>
  TESSERA_AVX2 static void truncated(NormalInterval<R> const& interval, RandomBits<R> const* words,
                                     R* values, std::int64_t count) {
    write_truncated(interval, words, values, count);
  }
};

constexpr RandomLoops loops_for_avx2 = random_loops_of<Avx2>("AVX2");

std::vector<RandomLoops const*> find_loops() {
  std::vector<RandomLoops const*> found;
  if (__builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0)
    found.push_back(&loops_for_avx2);
  found.push_back(&random_loops_for_any_processor);
  return found;
}

}  // namespace

std::span<RandomLoops const* const> random_loops_of_this_processor() {
  static auto const found = find_loops();
  return found;
}

}  // namespace tessera::detail
