#pragma once
/// @file
/// The state that one wait keeps about the heartbeat of the awaited process.

#include <cstdint>
#include <optional>

namespace tessera {

/// Kept by the waiting thread; see Heartbeats::failure_of.
struct HeartbeatWatch {
  bool has_looked = false;
  /// True if the peer may exit now: the final barrier has begun.
  bool may_have_left = false;
  std::uint64_t peer_heartbeats = 0;
  std::uint64_t own_heartbeats = 0;  ///< this process's, when the peer's last moved

  /// Returns how many own heartbeats have passed since the peer's count last changed; nothing at
  /// the first look, and if it has changed since the last.
  [[nodiscard]] std::optional<std::uint64_t> silence(std::uint64_t peer_now,
                                                     std::uint64_t own_now) {
    if (has_looked && peer_now == peer_heartbeats) return own_now - own_heartbeats;
    has_looked = true;
    peer_heartbeats = peer_now;
    own_heartbeats = own_now;
    return std::nullopt;
  }
};

}  // namespace tessera
