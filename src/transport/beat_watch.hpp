#pragma once
/// @file
/// What one wait remembers of the process it waits for.

#include <cstdint>

namespace tessera {

/// Kept by who waits; see Beats::trouble.
struct BeatWatch {
  bool has_looked = false;
  bool may_have_left =
      false;  ///< the peer's end would be no failure: all have arrived, or nearly so
  std::uint64_t peer_beats = 0;
  std::uint64_t own_beats = 0;  ///< this process's, when the peer's last moved
};

}  // namespace tessera
