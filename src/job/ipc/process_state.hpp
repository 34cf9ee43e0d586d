#pragma once
/// @file
/// The system's information about another process of this host.

#include <cstdint>
#include <optional>

namespace tessera {

/// One reading of /proc/<pid>/stat.
struct ProcessState {
  char letter = '?';  ///< as proc(5) has it: R S D T t Z X
  std::int64_t parent = 0;
  std::uint64_t started =
      0;  ///< clock ticks after boot; tells apart processes with the same number

  /// True if nothing of it runs any more, even if its parent has not collected it yet.
  [[nodiscard]] bool is_dead() const { return letter == 'Z' || letter == 'X' || letter == 'x'; }
  /// True if a signal has stopped it.
  [[nodiscard]] bool is_stopped() const { return letter == 'T'; }
  /// True if a debugger holds it.
  [[nodiscard]] bool is_held() const { return letter == 't'; }
};

/// Nothing if there is no such process; a state without a letter if it cannot be read.
[[nodiscard]] std::optional<ProcessState> process_state(std::int64_t pid);

/// A number that is equal for processes with comparable process ids.
[[nodiscard]] std::int64_t pid_namespace();

}  // namespace tessera
