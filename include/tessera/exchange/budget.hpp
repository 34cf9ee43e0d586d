#pragma once
/// @file
/// What a piece of program may send: limits that tests, and careful programs, put around
/// statements.

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <source_location>

namespace tessera {

/// Limits on what all statements of a scope send together; what is not named is not limited.
///
/// Messages and bytes are those of each single device, as Counters has them: cells for ghost cells
/// and gathers, pieces of one message counted once, the few bytes of a reduction's tree not at all.
struct CommunicationLimits {
  std::optional<std::int64_t> messages = std::nullopt;  ///< that any one device sends
  std::optional<std::int64_t> bytes = std::nullopt;     ///< of cells that any one device sends
  /// Slices whose whole need is put together in a temporary on each device, with cells of other
  /// devices. What the program asks to be moved, as `reshard` does, is none.
  std::optional<std::int64_t> gathers = std::nullopt;
};

/// What the statements of a scope sent: by the device of the job that sent the most messages, by
/// the one that sent the most bytes, and gathers by whichever device. Equal on every process.
struct CommunicationUse {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t gathers = 0;

  friend bool operator==(CommunicationUse const&, CommunicationUse const&) = default;
  /// "2 messages, 16 B, 0 gathers"
  friend std::ostream& operator<<(std::ostream& out, CommunicationUse const& use);
};

namespace detail {
struct BudgetEntry;
class BudgetStack;
}  // namespace detail

/// While it lives, a statement that would exceed its limits throws BudgetExceeded, on every process
/// alike and before anything of it is sent. The statement is then not charged, and the program may
/// go on. Of nested budgets each counts for itself.
///
/// Ranks:   made and destroyed collectively, around the same statements, with the same limits.
/// Threads: the thread that made the Runtime.
/// Throws:  UsageError for a negative limit, or without a Runtime.
/// Cost:    the processes agree by a small collective in every statement of the scope, so queued
///          statements are waited for: a tool for tests and checks, not for the hot loop.
///
/// Example: CommunicationBudget const budget({.messages = 2, .bytes = 16, .gathers = 0});
///          u(inner) = 0.5 * (u(left) + u(right));
class CommunicationBudget {
 public:
  explicit CommunicationBudget(CommunicationLimits const& limits,
                               std::source_location at = std::source_location::current());
  ~CommunicationBudget();
  CommunicationBudget(CommunicationBudget const&) = delete;
  CommunicationBudget& operator=(CommunicationBudget const&) = delete;

  /// What has been charged so far. Ranks: local, and equal on every process.
  [[nodiscard]] CommunicationUse used() const;

 private:
  std::shared_ptr<detail::BudgetStack> stack_;
  std::unique_ptr<detail::BudgetEntry> entry_;
};

}  // namespace tessera
