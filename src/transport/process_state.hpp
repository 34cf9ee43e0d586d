#pragma once
/// @file
/// What the system says about another process of this host.

#include <cstdint>
#include <optional>

namespace tessera {

/// One reading of /proc/<pid>/stat.
struct ProcessState {
  char letter = '?';  ///< as proc(5) has it: R S D T t Z X
  std::uint64_t started =
      0;  ///< clock ticks after boot; tells apart processes with the same number

  /// True if nothing of it runs any more, though its parent has not asked yet.
  [[nodiscard]] bool is_dead() const { return letter == 'Z' || letter == 'X' || letter == 'x'; }
  /// True if a debugger holds it.
  [[nodiscard]] bool is_held() const { return letter == 't'; }
};

/// Nothing if there is no such process; a state of no letter if that cannot be read.
[[nodiscard]] std::optional<ProcessState> process_state(std::int64_t pid);

/// A number that is equal for processes whose process ids mean the same.
[[nodiscard]] std::int64_t pid_namespace();

}  // namespace tessera
