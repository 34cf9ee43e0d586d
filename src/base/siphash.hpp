#pragma once
/// @file
/// Message authentication codes by SipHash-2-4.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tessera {

/// A key of 128 bits.
struct MacKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(MacKey const&, MacKey const&) = default;
};

/// A message authentication code: who does not know the key cannot make it.
struct Mac {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  /// Compares in a time that does not depend on the bits.
  friend bool operator==(Mac const& a, Mac const& b) {
    return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
  }
};

/// The code of bytes that are passed one part after the other.
///
/// Allocates nothing. Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF",
/// 2012; the variant with 128 bits of output is the authors' later one.
class SipHash {
 public:
  explicit SipHash(MacKey const& key);

  void add(std::span<std::byte const> bytes);
  /// The bytes of a value that has no padding.
  template <class T>
  void add_value(T const& value) {
    static_assert(std::has_unique_object_representations_v<T>);
    add(std::as_bytes(std::span(&value, 1)));
  }
  /// The code of all that was added. Called once.
  [[nodiscard]] Mac finish();

 private:
  void round();
  void take_word(std::uint64_t word);

  std::array<std::uint64_t, 4> v_;
  std::uint64_t word_ = 0;   ///< the bytes that do not fill a word yet
  std::uint64_t bytes_ = 0;  ///< added so far
};

}  // namespace tessera
