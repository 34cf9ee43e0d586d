#pragma once
/// @file
/// Hashes that are the same on every process and in every run.

#include <cstdint>
#include <cstring>
#include <string_view>

#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

/// Scrambles 64 bits; a bijection, so different numbers stay different.
/// Source: the finaliser of SplitMix64 (Steele, Lea & Flood, 2014).
[[nodiscard]] constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// A hash of `seed` followed by `value`.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  return scramble(seed ^ scramble(value));
}

/// Adds a value to a hash by a bijection in either argument, in a third of the time of `mix`: for
/// many values, followed by `scramble` at the end.
[[nodiscard]] constexpr std::uint64_t fold(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 32U);
}

/// A hash of some text. Source: FNV-1a, 64 bits.
[[nodiscard]] constexpr std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char const c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

/// The bits of a value of at most 8 bytes, as a number.
template <class T>
requires(sizeof(T) <= 8) [[nodiscard]] TESSERA_FUNCTION std::uint64_t bits_of(T const& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

}  // namespace tessera::detail
