#pragma once
/// @file
/// The current wait of a thread, readable by another thread.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "src/transport/protocol/awaited.hpp"

namespace tessera {

/// A wait that was active when it was read.
struct Wait {
  std::uint64_t number = 0;  ///< of this thread's waits; the same number means the same wait
  Awaited what;
};

/// Written by one thread without a lock, read by another.
///
/// `number_` is odd during a wait. The words are written while it is even and read between two
/// equal odd readings, with release and acquire on every word, so a mixture of two waits is never
/// returned.
class WaitSlot {
 public:
  void begin(Awaited const& what) {
    std::array<std::uint64_t, word_count> words{};
    std::memcpy(words.data(), &what, sizeof what);
    for (std::size_t i = 0; i < word_count; ++i)
      words_[i].store(words[i], std::memory_order_release);
    number_.fetch_add(1, std::memory_order_release);
  }
  void end() { number_.fetch_add(1, std::memory_order_release); }

  [[nodiscard]] std::optional<Wait> read() const {
    auto const before = number_.load(std::memory_order_acquire);
    if (before % 2 == 0) return std::nullopt;
    std::array<std::uint64_t, word_count> words{};
    for (std::size_t i = 0; i < word_count; ++i)
      words[i] = words_[i].load(std::memory_order_acquire);
    if (number_.load(std::memory_order_acquire) != before) return std::nullopt;
    Wait wait{before, {}};
    std::memcpy(static_cast<void*>(&wait.what), words.data(), sizeof wait.what);
    return wait;
  }
  /// True while the wait that was read goes on.
  [[nodiscard]] bool is_still(std::uint64_t number) const {
    return number_.load(std::memory_order_acquire) == number;
  }

 private:
  static_assert(std::is_trivially_copyable_v<Awaited>);
  static constexpr std::size_t word_count = (sizeof(Awaited) + 7) / 8;

  alignas(64) std::atomic<std::uint64_t> number_{0};
  std::array<std::atomic<std::uint64_t>, word_count> words_{};
};

}  // namespace tessera
