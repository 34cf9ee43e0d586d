#pragma once
/// @file
/// Which messages of a sender have come before.

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera {

/// Remembers the counters of a sender's latest messages, `Size` of them: a counter is taken once,
/// and one that is too old to be remembered is not taken at all. Messages may overtake each other
/// by less than `Size`.
///
/// Source: S. Kent, K. Seo, RFC 4301 (IPsec), 2005, the sliding window against replayed packets.
template <std::uint64_t Size>
class ReplayWindow {
  static_assert(Size % 64 == 0);

 public:
  /// True if no message with this counter, which is at least 1, was taken before; takes it.
  [[nodiscard]] bool take(std::uint64_t counter) {
    if (counter == 0 || counter + Size <= newest_) return false;
    if (counter > newest_) {
      forget(counter);
      newest_ = counter;
    } else if (is_taken(counter)) {
      return false;
    }
    word(counter) |= bit(counter);
    return true;
  }

 private:
  // The places of the counters from newest_ + 1 to this one were those of older counters.
  void forget(std::uint64_t counter) {
    if (counter - newest_ >= Size) {
      taken_ = {};
      return;
    }
    for (auto next = newest_ + 1; next <= counter; ++next) word(next) &= ~bit(next);
  }
  [[nodiscard]] bool is_taken(std::uint64_t counter) { return (word(counter) & bit(counter)) != 0; }
  [[nodiscard]] std::uint64_t& word(std::uint64_t counter) { return taken_[counter % Size / 64]; }
  [[nodiscard]] static std::uint64_t bit(std::uint64_t counter) {
    return std::uint64_t{1} << counter % 64;
  }

  std::array<std::uint64_t, Size / 64> taken_{};
  std::uint64_t newest_ = 0;
};

}  // namespace tessera
