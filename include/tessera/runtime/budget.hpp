#pragma once
/// @file
/// Running totals of the messages that this process's devices sent, and limits on the messages of a
/// piece of program: tests, and careful programs, put them around statements.

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <source_location>

#include "tessera/detail/base/text.hpp"

namespace tessera {

/// Summed over this process's devices; messages between two devices of one process count too, and
/// all routes read the same, but for `routes`. A long message that travels in pieces is one
/// message.
struct Counters {
  /// Bytes by the route on which they were sent, as `tessera-info` and the report name them.
  struct Routes {
    std::int64_t local = 0, shm = 0, ucx = 0, mpi = 0;
    std::int64_t peer = 0, ipc = 0, nccl = 0, ucx_gpu = 0;  ///< from GPU to GPU

    friend Routes operator-(Routes const& a, Routes const& b) {
      return {a.local - b.local, a.shm - b.shm, a.ucx - b.ucx,   a.mpi - b.mpi,
              a.peer - b.peer,   a.ipc - b.ipc, a.nccl - b.nccl, a.ucx_gpu - b.ucx_gpu};
    }
    friend bool operator==(Routes const&, Routes const&) = default;
  };

  std::int64_t statements = 0;  ///< on arrays, executed by this process
  std::int64_t messages = 0;    ///< sent for ghost cells and gathers
  std::int64_t bytes = 0;       ///< of cells in those messages
  std::int64_t plans_made = 0;  ///< statements that had no plan in the cache
  Routes routes = {};           ///< the bytes, divided

  friend Counters operator-(Counters const& a, Counters const& b) {
    return {a.statements - b.statements, a.messages - b.messages, a.bytes - b.bytes,
            a.plans_made - b.plans_made, a.routes - b.routes};
  }
  friend bool operator==(Counters const&, Counters const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Counters const& c) {
    return out << detail::counted(c.statements, "statement") << ", "
               << detail::counted(c.messages, "message") << ", " << detail::bytes_text(c.bytes)
               << ", " << detail::counted(c.plans_made, "plan") << " made";
  }
};

/// Limits on the messages of all statements of a scope together; a limit that is left out does not
/// apply.
///
/// Messages and bytes are those of each single device, as Counters has them: cells for ghost cells
/// and gathers, pieces of one message counted once, the few bytes of a reduction's tree not at all.
struct CommunicationLimits {
  std::optional<std::int64_t> messages = std::nullopt;  ///< that any one device sends
  std::optional<std::int64_t> bytes = std::nullopt;     ///< of cells that any one device sends
  /// Slices for which each device assembles all cells that it needs in a temporary, including cells
  /// of other devices. Cells that the program explicitly asks to move, as `reshard` does, do not
  /// count.
  std::optional<std::int64_t> gathers = std::nullopt;
};

/// The use of a scope's statements: the messages of the device that sent the most messages, the
/// bytes of the device that sent the most bytes, and the gathers of any device. Equal on every
/// process.
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
/// go on. Each of several nested budgets counts separately.
///
/// Ranks:   made and destroyed collectively, around the same statements, with the same limits.
/// Threads: the thread that made the Runtime.
/// Throws:  UsageError for a negative limit, or without a Runtime.
/// Cost:    every statement of the scope includes a small collective in which the processes agree,
///          and waits for queued statements: a tool for tests and checks, not for the hot loop.
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
