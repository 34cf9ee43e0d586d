#pragma once
/// @file
/// What a program's environment decides about channels and waits.

#include <cstdint>
#include <optional>

#include "src/job/bootstrap.hpp"
#include "src/transport/protocol/route.hpp"

namespace tessera {

/// How channels are made and how long waits may be.
struct NetworkOptions {
  std::optional<Route> forced;  ///< between processes, from TESSERA_ROUTE
  std::int64_t slot_bytes = 0;  ///< TESSERA_SLOT_BYTES: of every channel; 0: the route's default
  double stall_seconds = 30;    ///< TESSERA_STALL: warns about a late peer after this time
  double silence_seconds = 10;  ///< TESSERA_SILENCE: a peer without heartbeat has then failed
  double question_seconds = 1;  ///< longer waits ask the peer what it waits for
  /// TESSERA_CHECK=communication: all processes compare their statements.
  bool compares_statements = false;
  /// TESSERA_CHECK=numbers: and the numbers in them.
  bool compares_numbers = false;

  /// Slots hold at least what a partial result of a reduction needs.
  static constexpr std::int64_t least_slot_bytes = 128;
  static constexpr std::int64_t most_slot_bytes = std::int64_t{1} << 30;

  /// Reads TESSERA_ROUTE, TESSERA_SLOT_BYTES, TESSERA_STALL, TESSERA_SILENCE and TESSERA_CHECK.
  /// Throws: ConfigError for a variable that cannot be read.
  [[nodiscard]] static NetworkOptions from_environment();
  /// The same options, but comparisons and the largest slot where any process asks for them: what
  /// all processes have to do alike. Ranks: collective.
  [[nodiscard]] NetworkOptions agreed(Bootstrap& bootstrap) const;
};

}  // namespace tessera
