#pragma once
/// @file
/// When a device computes two consecutive statements in one pass over memory.

#include <cstdint>
#include <limits>

#include "src/device/queue.hpp"

namespace tessera {

/// Which statements a device pairs, and in bands of which size.
struct PairOptions {
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// A statement may be paired if it touches more bytes than this.
  std::int64_t least_bytes = never;
  std::int64_t band_bytes = 0;   ///< that both statements touch while one band is computed
  std::int64_t forced_rows = 0;  ///< for tests: if positive, always pairs, in bands of so many rows

  [[nodiscard]] bool is_forced() const { return forced_rows > 0; }

  /// The options that TESSERA_TOGETHER asks for, for queues with these traits and the caches of
  /// this core. Throws: ConfigError, naming the variable, if it cannot be read.
  [[nodiscard]] static PairOptions from_environment(QueueTraits const& traits);
  /// The value of TESSERA_TOGETHER; 1 if it is unset. Throws: as from_environment.
  [[nodiscard]] static std::int64_t value_of_variable();
};

}  // namespace tessera
