#pragma once
/// @file
/// Counts of what came from a network and was not believed.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera {

/// What somebody outside of the job may have sent.
enum class RefusedKind : std::uint8_t {
  guest,      ///< a connection that asks for a worker's address
  request,    ///< a call
  answer,     ///< the answer to a call
  message,    ///< a message of a channel
  heartbeat,  ///< a question whether this process lives, its answer, or the refusal of one
};
inline constexpr std::size_t refused_kinds = 5;

/// How many of each kind.
using RefusedCounts = std::array<std::int64_t, refused_kinds>;

/// "tessera: refused 3 connections, 1 heartbeat, which no process of this job had signed" as a
/// line; empty if there were none.
[[nodiscard]] std::string refused_text(RefusedCounts const& counts);

/// Threads: any.
class Refused {
 public:
  void add(RefusedKind what) { of(what).fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t count(RefusedKind what) const {
    return counts_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }
  [[nodiscard]] RefusedCounts counts() const {
    RefusedCounts result{};
    for (std::size_t i = 0; i < refused_kinds; ++i)
      result[i] = counts_[i].load(std::memory_order_relaxed);
    return result;
  }

 private:
  [[nodiscard]] std::atomic<std::int64_t>& of(RefusedKind what) {
    return counts_[static_cast<std::size_t>(what)];
  }

  std::array<std::atomic<std::int64_t>, refused_kinds> counts_{};
};

}  // namespace tessera
