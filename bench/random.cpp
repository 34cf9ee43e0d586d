// Random numbers that fill an array, beside a loop of Philox written by hand with AVX2.
//
//   bench_random LABEL 1 CELLS STEPS PAIRS     prints one line of JSON; see bench/run
//
// Labels begin with
//
//   uniform-float, uniform-double   numbers of [0, 1), a new key in each step
//   walk-double                     u = u + a number: a random walk, in one pass over memory
//
// By hand, each process fills its part of the array: eight blocks of Philox at once, whose words
// are made numbers in registers. Both must have the same bits.
#include <cstdint>
#include <vector>

#include <immintrin.h>
#include <mpi.h>
#include <tessera/random.hpp>

#include "pairs.hpp"
#include "raw/aligned.hpp"

// Compiled for these processors alone, whatever the rest is compiled for.
#define TESSERA_AVX2 [[gnu::target("avx2")]]

namespace ts = tessera;

namespace {

/// The keys of the rounds, for four blocks side by side.
struct Keys {
  __m256i first[10], second[10];
};
TESSERA_AVX2 inline Keys keys_of(std::uint64_t key) {
  Keys keys;
  auto k0 = _mm256_set1_epi64x(static_cast<long long>(key & 0xffffffffU));
  auto k1 = _mm256_set1_epi64x(static_cast<long long>(key >> 32U));
  for (int round = 0; round < 10; ++round) {
    keys.first[round] = k0;
    keys.second[round] = k1;
    k0 = _mm256_add_epi64(k0, _mm256_set1_epi64x(0x9E3779B9));
    k1 = _mm256_add_epi64(k1, _mm256_set1_epi64x(0xBB67AE85));
  }
  return keys;
}

struct Blocks {
  __m256i c0, c1, c2, c3;
  TESSERA_AVX2 void start(std::uint64_t block) {
    c0 = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(block)),
                          _mm256_set_epi64x(3, 2, 1, 0));
    c1 = _mm256_srli_epi64(c0, 32);
    c2 = c3 = _mm256_setzero_si256();
  }
  TESSERA_AVX2 void round(__m256i k0, __m256i k1) {
    auto const p0 = _mm256_mul_epu32(c0, _mm256_set1_epi64x(0xD2511F53));
    auto const p1 = _mm256_mul_epu32(c2, _mm256_set1_epi64x(0xCD9E8D57));
    c0 = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(c1, k0));
    c1 = p1;
    c2 = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(c3, k1));
    c3 = p0;
  }
  TESSERA_AVX2 void words(__m256i& low, __m256i& high) const {
    auto const a = _mm256_blend_epi32(c0, _mm256_slli_epi64(c1, 32), 0xaa);
    auto const b = _mm256_blend_epi32(c2, _mm256_slli_epi64(c3, 32), 0xaa);
    auto const even = _mm256_unpacklo_epi64(a, b), odd = _mm256_unpackhi_epi64(a, b);
    low = _mm256_permute2x128_si256(even, odd, 0x20);
    high = _mm256_permute2x128_si256(even, odd, 0x31);
  }
};
/// The words of eight blocks, in order. Two halves take turns, since one alone waits for products.
TESSERA_AVX2 inline void eight_blocks(Keys const& keys, std::uint64_t block, __m256i (&words)[4]) {
  Blocks a, b;
  a.start(block);
  b.start(block + 4);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    a.round(keys.first[round], keys.second[round]);
    b.round(keys.first[round], keys.second[round]);
  }
  a.words(words[0], words[1]);
  b.words(words[2], words[3]);
}

TESSERA_AVX2 inline __m256 floats_of(__m256i words) {
  return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(words, 8)), _mm256_set1_ps(0x1p-24F));
}
/// The upper 53 bits of each 64, by halves: 2^84 and 2^52 plus integers have these in their bits.
TESSERA_AVX2 inline __m256d doubles_of(__m256i words) {
  auto const bits = _mm256_srli_epi64(words, 11);
  auto const high =
      _mm256_or_si256(_mm256_srli_epi64(bits, 32), _mm256_castpd_si256(_mm256_set1_pd(0x1p84)));
  auto const low = _mm256_blend_epi32(bits, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)), 0xaa);
  auto const sum =
      _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(0x1p84 + 0x1p52)),
                    _mm256_castsi256_pd(low));
  return _mm256_mul_pd(sum, _mm256_set1_pd(0x1p-53));
}

// The parts begin at multiples of 32 cells, and have as many multiples.
TESSERA_AVX2 void fill(std::uint64_t key, std::int64_t first, std::int64_t count, float* to) {
  auto const keys = keys_of(key);
  __m256i words[4];
  for (std::int64_t i = 0; i < count; i += 32) {
    eight_blocks(keys, static_cast<std::uint64_t>(first + i) / 4, words);
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) _mm256_store_ps(to + i + 8 * part, floats_of(words[part]));
  }
}
template <bool adds>
TESSERA_AVX2 void fill(std::uint64_t key, std::int64_t first, std::int64_t count, double* to) {
  auto const keys = keys_of(key);
  __m256i words[4];
  for (std::int64_t i = 0; i < count; i += 16) {
    eight_blocks(keys, static_cast<std::uint64_t>(first + i) / 2, words);
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      auto* const cells = to + i + 4 * part;
      auto const numbers = doubles_of(words[part]);
      _mm256_store_pd(cells, adds ? _mm256_add_pd(_mm256_load_pd(cells), numbers) : numbers);
    }
  }
}

template <class T>
bool is_same(ts::DistArray<T, 1> const& u, T const* cells, std::int64_t first, std::int64_t count) {
  auto const all = u.to_host();
  for (std::int64_t i = 0; i < count; ++i)
    if (all[static_cast<std::size_t>(first + i)] != cells[i]) return false;
  return true;
}

/// Runs a case on arrays of T: by a statement of the key, and by fill(key, first, count, cells).
template <class T, class Statement, class Fill>
int run(bench::Case const& what, Statement const& statement, Fill const& fill_part) {
  constexpr std::int64_t group = 32;
  auto const n = what.cells / (group * ts::process_count()) * group * ts::process_count();
  ts::Mesh mesh({{"x", ts::device_count()}});
  auto u = ts::zeros<T>({n}, {mesh, ts::P("x")});
  auto const count = n / ts::process_count();
  auto const first = count * ts::process().value();
  auto const room = raw::make_doubles(count);
  auto* const cells = reinterpret_cast<T*>(room.get());
  std::fill_n(cells, count, T{0});

  ts::random::Key const key(1);
  std::int64_t ours = 0, raw = 0;
  auto const pairs = bench::time_pairs(
      what, [&] { statement(u, key.fold_in(ours++)); },
      [&] { fill_part(key.fold_in(raw++).value(), first, count, cells); });
  return bench::print(what, pairs, is_same(u, cells, first, count));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  if (what->label.starts_with("uniform-float"))
    return run<float>(
        *what, [](auto& u, auto key) { u = ts::random::uniform<float>(key); },
        [](auto... arguments) { fill(arguments...); });
  if (what->label.starts_with("walk-double"))
    return run<double>(
        *what, [](auto& u, auto key) { u = u + ts::random::uniform<double>(key); },
        [](auto... arguments) { fill<true>(arguments...); });
  return run<double>(
      *what, [](auto& u, auto key) { u = ts::random::uniform<double>(key); },
      [](auto... arguments) { fill<false>(arguments...); });
}
