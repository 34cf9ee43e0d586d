#pragma once
/// @file
/// The statements of this process by their numbers, and their comparison with those of others.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "tessera/base/source.hpp"

#include "src/base/text.hpp"
#include "src/network/network.hpp"

namespace tessera {

/// Numbers everything that all processes do alike: statements, loops, host collectives.
///
/// Threads: the caller's.
class StatementLog {
 public:
  explicit StatementLog(Network& network) : network_(network) {}

  /// Returns the next number. Other processes are told it when they ask what this one does.
  StatementTag begin(std::uint64_t hash, SourceLocation const& location);
  /// Returns the tag that was begun last; number 0 before the first.
  [[nodiscard]] StatementTag const& last() const { return last_; }

  /// True if some process asked for comparisons: else no words need to be kept for them.
  [[nodiscard]] bool compares() const { return network_.compares_statements(); }
  /// True if some process asked for comparisons of numbers, too.
  [[nodiscard]] bool compares_numbers() const { return network_.compares_numbers(); }
  /// Compares a statement with those of the other processes, where statements are compared.
  /// `describe` is asked for words only where they differ, perhaps later.
  /// Throws: Mismatch on every process; PeerFailed.
  template <class Describe>
  void compare(StatementTag const& tag, Describe describe) {
    auto const after = tag.location.known() ? SourceLocation() : known_place_;
    if (tag.location.known()) known_place_ = tag.location;
    network_.agree(tag, [after, describe = std::move(describe)] {
      return text(after.known() ? text(" (after ", after, ')') : "", ", ", describe());
    });
  }
  /// Waits until all statements so far have been compared. Ranks: collective; no message where
  /// nothing is compared. Throws: Mismatch, PeerFailed.
  void catch_up() { network_.catch_up(last_); }
  /// Compares the ends of the programs: finds a process with fewer statements than others.
  void compare_end();

 private:
  Network& network_;
  StatementTag last_;
  std::uint64_t count_ = 0;
  SourceLocation known_place_;  ///< of the last statement that has one
};

}  // namespace tessera
