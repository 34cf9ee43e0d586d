#pragma once
/// @file
/// Lines that are stored past the caches: a line that is written whole so need not be read before.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace tessera::detail {

/// What is stored at once.
inline constexpr std::size_t line_bytes = 64;

#if defined(__AVX__) && !defined(__CUDACC__)
/// Stores a line; `to` is aligned to it.
inline void stream_line(void* to, void const* from) {
  auto* const target = static_cast<float*>(to);
  auto const* const source = static_cast<float const*>(from);
  _mm256_stream_ps(target, _mm256_load_ps(source));
  _mm256_stream_ps(target + 8, _mm256_load_ps(source + 8));
}
#else
inline void stream_line(void* to, void const* from) {
  std::memcpy(to, from, line_bytes);
}
#endif

}  // namespace tessera::detail
