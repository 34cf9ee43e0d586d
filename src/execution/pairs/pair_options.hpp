#pragma once
/// @file
/// Whether two statements that follow each other may be computed in one pass over memory.

#include <cstdint>
#include <limits>

#include "src/device/queue.hpp"

namespace tessera {

/// How a device pairs statements.
struct PairOptions {
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// Statements that touch no more bytes run alone.
  std::int64_t least_bytes = never;
  std::int64_t band_bytes = 0;   ///< what both touch in a band of rows
  std::int64_t forced_rows = 0;  ///< for tests: always pairs, in bands of so many rows

  [[nodiscard]] bool is_forced() const { return forced_rows > 0; }

  /// What TESSERA_TOGETHER says, for queues of such traits on this core.
  /// Throws: ConfigError, naming the variable, if it cannot be read.
  [[nodiscard]] static PairOptions from_environment(QueueTraits const& traits);
  /// The value of TESSERA_TOGETHER; 1 if it is unset. Throws: as from_environment.
  [[nodiscard]] static std::int64_t value_of_variable();
};

}  // namespace tessera
