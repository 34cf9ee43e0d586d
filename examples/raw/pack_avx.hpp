#pragma once
/// @file
/// A cache line of doubles at a time, for raw/streaming.hpp.

#include <cstdint>

#include <immintrin.h>

namespace raw {

/// Neighbouring doubles that are computed with together, each rounded as if alone.
struct Pack {
  __m256d low, high;

  friend Pack operator+(Pack a, Pack b) {
    return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
  }
  friend Pack operator-(Pack a, Pack b) {
    return {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)};
  }
  friend Pack operator*(Pack a, Pack b) {
    return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
  }
  friend Pack operator-(double a, Pack b) { return all(a) - b; }
  friend Pack operator*(double a, Pack b) { return all(a) * b; }

  static Pack all(double value) { return {_mm256_set1_pd(value), _mm256_set1_pd(value)}; }
};

inline constexpr std::int64_t pack_doubles = 8;

struct LoadPack {
  Pack operator()(double const* from) const {
    return {_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)};
  }
};

/// Writes past the caches; `to` is the start of a cache line. A line that is written whole at once
/// is the fastest.
inline void stream_pack(double* to, Pack const& value) {
  _mm256_stream_pd(to, value.low);
  _mm256_stream_pd(to + 4, value.high);
}

/// What was streamed before is seen before what is stored after.
inline void end_streaming() {
  _mm_sfence();
}

}  // namespace raw
