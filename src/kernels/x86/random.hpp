#pragma once
/// @file
/// Random-number loops written with AVX2 intrinsics.

#include <cstddef>

#include <immintrin.h>

#include "src/kernels/random/make_loops.hpp"

#define TESSERA_AVX2_INLINE [[gnu::target("avx2"), gnu::always_inline]] inline

namespace tessera::detail {

/// The two key words of each round, repeated in all four lanes of 64 bits.
struct KeySchedule {
  __m256i first[philox_rounds];
  __m256i second[philox_rounds];
};
TESSERA_AVX2_INLINE void write_schedule(std::uint64_t key, KeySchedule& keys) {
  // Only the lower half of each lane counts, so overflow into the upper half does no harm.
  auto first = _mm256_set1_epi64x(static_cast<long long>(key & 0xffff'ffffU));
  auto second = _mm256_set1_epi64x(static_cast<long long>(key >> 32U));
  for (int r = 0; r < philox_rounds; ++r) {
    keys.first[r] = first;
    keys.second[r] = second;
    first = _mm256_add_epi64(first, _mm256_set1_epi64x(philox_key_increment0));
    second = _mm256_add_epi64(second, _mm256_set1_epi64x(philox_key_increment1));
  }
}

/// The counters of four blocks, one block per 64-bit lane. Each vector holds one word of every
/// block in the lower half of its lane; vpmuludq multiplies these halves and ignores the others.
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
/// Transposes the words into block order, and calls store(address, 8 words) for each two blocks.
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

/// Computes and stores blocks, eight at a time. Two groups of four are interleaved to hide the
/// latency of multiplications.
template <class Store, class T>
TESSERA_AVX2_INLINE void write_blocks(PhiloxBlocks const& blocks, Store store, T* to) {
  constexpr std::ptrdiff_t cells = 16 * philox_group / sizeof(T);
  KeySchedule keys;
  write_schedule(blocks.key, keys);
  auto const draw = _mm256_set1_epi64x(static_cast<long long>(blocks.draw));
  auto const step = _mm256_set1_epi64x(philox_group);
  auto next = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(blocks.first)),
                               _mm256_set_epi64x(3, 2, 1, 0));
  auto remaining = blocks.count;
  for (; remaining > philox_group; remaining -= 2 * philox_group, to += 2 * cells) {
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
  if (remaining <= 0) return;
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
  /// Converts 53-bit integers in two halves: put into the lower bits of 2^84 and 2^52 as doubles,
  /// they add their value.
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

/// WriteWords and WriteUniform with AVX2.
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
