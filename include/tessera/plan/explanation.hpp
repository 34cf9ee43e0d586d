#pragma once
/// @file
/// Why a statement communicates, as a value that tests read and people print.

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tessera/base/source.hpp"

namespace tessera {

/// The communication that was inserted for one array that a statement reads.
struct Communication {
  enum class Cause : std::uint8_t {
    nothing,  ///< every device owns what it reads
    halo,     ///< ghost cells around the shards are read; invalid ones are filled
    gather    ///< each device assembles all cells that it needs in a temporary
  };
  Cause cause = Cause::nothing;
  std::string array;       ///< "array 3 float64 (10, 12)"
  std::string reason;      ///< the reason, in words
  std::int64_t cells = 0;  ///< sent by this process's devices
  std::int64_t bytes = 0;
  std::string routes;  ///< "shm", "local, mpi"
  /// Of `bytes`, those that came from another host and are sent on within this one.
  std::int64_t forwarded_bytes = 0;
};
[[nodiscard]] char const* to_string(Communication::Cause cause);

/// Which of several ways to compute a product was chosen, with what the plan expects of it.
struct PlanChoice {
  /// What each axis of the mesh does, as TESSERA_ROLES takes it: "x=0,y=terms".
  std::string roles;
  double seconds = 0;
  std::int64_t received_bytes = 0;  ///< by a device, if all have equal shares
  /// Of such a device, beside its arrays: cells of operands that it lacks, and sums.
  std::int64_t memory_bytes = 0;
  std::string runner_up;  ///< the roles of the best other way; empty if there is none
  double runner_up_seconds = 0;
};

/// One statement: its messages, and the planner's decisions.
struct Explanation {
  SourceLocation location;
  std::string kind;
  std::int64_t messages = 0;  ///< sent by this process's devices; several arrays share one
  std::int64_t bytes = 0;
  std::string writes;  ///< "in place", "second buffer, then swap", …
  std::vector<Communication> reads;
  std::optional<PlanChoice> choice;  ///< of a product over several devices

  /// True if anything is sent for this cause.
  [[nodiscard]] bool has(Communication::Cause cause) const;
  friend std::ostream& operator<<(std::ostream& out, Explanation const& explanation);
};

/// The statements of a piece of program, in order.
struct Explanations {
  std::vector<Explanation> statements;

  [[nodiscard]] std::int64_t messages() const;
  [[nodiscard]] std::int64_t bytes() const;
  /// True if any statement sends for this cause.
  [[nodiscard]] bool has(Communication::Cause cause) const;
  friend std::ostream& operator<<(std::ostream& out, Explanations const& explanations);
};

}  // namespace tessera
