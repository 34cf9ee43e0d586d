#pragma once
/// @file
/// The state that one wait keeps about the heartbeat of the awaited process.

#include <cstdint>
#include <optional>

namespace tessera {

/// Kept by the waiting thread; see Heartbeats::failure_of.
struct HeartbeatWatch {
  bool has_looked = false;
  /// The peer's end would be no failure: all have arrived, or nearly so.
  bool may_have_left = false;
  std::uint64_t peer_heartbeats = 0;
  std::uint64_t own_heartbeats = 0;  ///< this process's, when the peer's last moved

  /// How many heartbeats of this process the peer's have stood still for; nothing at the first
  /// look, and where they have moved since the last.
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
