#pragma once
/// @file
/// Random numbers by the instructions of AVX2.

#include <cstddef>

#include <immintrin.h>

#include "src/kernels/random/make_loops.hpp"

#define TESSERA_AVX2_INLINE [[gnu::target("avx2"), gnu::always_inline]] inline

namespace tessera::detail {

/// The keys of all rounds, two for each, as they are added to four blocks side by side.
struct KeySchedule {
  __m256i first[philox_rounds];
  __m256i second[philox_rounds];
};
TESSERA_AVX2_INLINE void write_schedule(std::uint64_t key, KeySchedule& keys) {
  // In each lane of 64 bits; what overflows from its lower half does not matter.
  auto first = _mm256_set1_epi64x(static_cast<long long>(key & 0xffff'ffffU));
  auto second = _mm256_set1_epi64x(static_cast<long long>(key >> 32U));
  for (int r = 0; r < philox_rounds; ++r) {
    keys.first[r] = first;
    keys.second[r] = second;
    first = _mm256_add_epi64(first, _mm256_set1_epi64x(philox_growth0));
    second = _mm256_add_epi64(second, _mm256_set1_epi64x(philox_growth1));
  }
}

/// Four blocks at once, a word of each in the lower half of a lane of 64 bits: products of such
/// halves are one instruction, and do not see what the upper halves hold.
struct FourBlocks {
  __m256i c0, c1, c2, c3;
};
TESSERA_AVX2_INLINE FourBlocks counters_of(__m256i blocks, __m256i draw) {
  return {blocks, _mm256_srli_epi64(blocks, 32), draw, _mm256_srli_epi64(draw, 32)};
}
TESSERA_AVX2_INLINE void run_round(FourBlocks& x, __m256i key0, __m256i key1) {
  auto const p0 = _mm256_mul_epu32(x.c0, _mm256_set1_epi64x(philox_multiplier0));
  auto const p1 = _mm256_mul_epu32(x.c2, _mm256_set1_epi64x(philox_multiplier1));
  x.c0 = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(x.c1, key0));
  x.c1 = p1;
  x.c2 = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(x.c3, key1));
  x.c3 = p0;
}
/// Stores the words block by block, by store(place, 8 words).
template <class Store, class T>
TESSERA_AVX2_INLINE void store_blocks(FourBlocks const& x, Store store, T* to) {
  constexpr int odd_words = 0xaa;
  constexpr std::ptrdiff_t cells = 32 / sizeof(T);
  auto const low = _mm256_blend_epi32(x.c0, _mm256_slli_epi64(x.c1, 32), odd_words);
  auto const high = _mm256_blend_epi32(x.c2, _mm256_slli_epi64(x.c3, 32), odd_words);
  auto const blocks02 = _mm256_unpacklo_epi64(low, high);
  auto const blocks13 = _mm256_unpackhi_epi64(low, high);
  store(to, _mm256_permute2x128_si256(blocks02, blocks13, 0x20));
  store(to + cells, _mm256_permute2x128_si256(blocks02, blocks13, 0x31));
}

/// Computes the blocks, eight at once: while one half waits for its products, the other one goes
/// on.
template <class Store, class T>
TESSERA_AVX2_INLINE void write_blocks(PhiloxBlocks const& blocks, Store store, T* to) {
  constexpr std::ptrdiff_t cells = 16 * philox_group / sizeof(T);
  KeySchedule keys;
  write_schedule(blocks.key, keys);
  auto const draw = _mm256_set1_epi64x(static_cast<long long>(blocks.draw));
  auto const step = _mm256_set1_epi64x(philox_group);
  auto next = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(blocks.first)),
                               _mm256_set_epi64x(3, 2, 1, 0));
  auto left = blocks.count;
  for (; left > philox_group; left -= 2 * philox_group, to += 2 * cells) {
    auto a = counters_of(next, draw);
    next = _mm256_add_epi64(next, step);
    auto b = counters_of(next, draw);
    next = _mm256_add_epi64(next, step);
#pragma GCC unroll 10
    for (int r = 0; r < philox_rounds; ++r) {
      run_round(a, keys.first[r], keys.second[r]);
      run_round(b, keys.first[r], keys.second[r]);
    }
    store_blocks(a, store, to);
    store_blocks(b, store, to + cells);
  }
  if (left <= 0) return;
  auto a = counters_of(next, draw);
#pragma GCC unroll 10
  for (int r = 0; r < philox_rounds; ++r) run_round(a, keys.first[r], keys.second[r]);
  store_blocks(a, store, to);
}

struct StoreWords {
  TESSERA_AVX2_INLINE void operator()(std::uint32_t* to, __m256i words) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), words);
  }
};
struct StoreUniform {
  TESSERA_AVX2_INLINE void operator()(float* to, __m256i words) const {
    auto const numbers = _mm256_cvtepi32_ps(_mm256_srli_epi32(words, 8));
    _mm256_storeu_ps(to, _mm256_mul_ps(numbers, _mm256_set1_ps(0x1p-24F)));
  }
  /// By halves of 53 bits: 2^84 and 2^52 plus integers have these in their bits.
  TESSERA_AVX2_INLINE void operator()(double* to, __m256i words) const {
    auto const bits = _mm256_srli_epi64(words, 11);
    auto const high =
        _mm256_or_si256(_mm256_srli_epi64(bits, 32), _mm256_castpd_si256(_mm256_set1_pd(0x1p84)));
    auto const low = _mm256_blend_epi32(bits, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)), 0xaa);
    auto const sum =
        _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(0x1p84 + 0x1p52)),
                      _mm256_castsi256_pd(low));
    _mm256_storeu_pd(to, _mm256_mul_pd(sum, _mm256_set1_pd(0x1p-53)));
  }
};

/// As WriteWords and WriteUniform.
struct WriteWordsByAvx2 {
  TESSERA_AVX2_INLINE static void run(PhiloxBlocks const& blocks, std::uint32_t* to) {
    write_blocks(blocks, StoreWords(), to);
  }
};
template <class R>
struct WriteUniformByAvx2 {
  TESSERA_AVX2_INLINE static void run(PhiloxBlocks const& blocks, R* to) {
    write_blocks(blocks, StoreUniform(), to);
  }
};

}  // namespace tessera::detail

#undef TESSERA_AVX2_INLINE
