#pragma once
/// @file
/// Non-temporal stores: a line that is written whole need not be read before.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "src/index/strided_block.hpp"

namespace tessera {

/// True if a line begins at this byte.
inline bool begins_line(std::byte const* at) {
  return reinterpret_cast<std::uintptr_t>(at) % line_bytes == 0;
}

#if defined(__x86_64__)
/// Stores a line, which begins at `to`, without the caches.
/// Threads: any.
inline void store_line(std::byte* to, std::byte const* from) {
  for (std::int64_t at = 0; at < line_bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                     _mm_loadu_si128(reinterpret_cast<__m128i const*>(from + at)));
}

/// Orders the non-temporal stores so far before all later stores, as seen by other threads.
/// Threads: any.
inline void end_non_temporal_stores() {
  _mm_sfence();
}
#else
inline void store_line(std::byte* to, std::byte const* from) {
  std::memcpy(to, from, static_cast<std::size_t>(line_bytes));
}

inline void end_non_temporal_stores() {}
#endif

/// Copies any number of bytes from anywhere to anywhere: whole lines of the target without the
/// caches.
/// Threads: any.
inline void copy_non_temporal(std::byte* to, std::byte const* from, std::int64_t bytes) {
  auto const past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line_bytes);
  auto const head = std::min(bytes, past == 0 ? 0 : line_bytes - past);
  std::memcpy(to, from, static_cast<std::size_t>(head));
  auto left = bytes - head;
  to += head;
  from += head;
  for (; left >= line_bytes; left -= line_bytes, to += line_bytes, from += line_bytes)
    store_line(to, from);
  std::memcpy(to, from, static_cast<std::size_t>(left));
}

}  // namespace tessera
