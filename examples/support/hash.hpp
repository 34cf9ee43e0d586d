#pragma once
/// @file
/// The hash that tessera::hash adds up, for programs that do not link Tessera.

#include <cstdint>
#include <cstring>

namespace examples {

/// Scrambles 64 bits. Source: the finaliser of SplitMix64 (Steele, Lea & Flood, 2014).
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

/// The term of one cell in the hash of an array of doubles.
[[nodiscard]] inline std::uint64_t hash_of_cell(std::int64_t cell, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return mix(static_cast<std::uint64_t>(cell), bits);
}

}  // namespace examples
