#pragma once
/// @file
/// Compares what all processes do, statement by statement.
///
/// Each process tells its parent in a tree of the processes (its number with the lowest set bit
/// cleared) what it is about to do, several statements at a time, and goes on. The parent compares
/// that with its own statements as soon as both are known; who is too far ahead of a neighbour in
/// the tree waits. As a tree joins all processes, a difference between any two of them is one along
/// an edge. Only then does the parent ask for the child's statement in words.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/transport/failure.hpp"
#include "tessera/transport/job.hpp"
#include "tessera/transport/message.hpp"

#include "control.hpp"
#include "postbox.hpp"

namespace tessera {

/// Threads: the caller's.
class Agreement {
 public:
  /// How many statements a process may be ahead of a neighbour.
  static constexpr std::uint64_t most_ahead = 256;

  /// A difference that is found becomes `failure`, a Mismatch.
  Agreement(Postbox& postbox, Job const& job, Failure& failure);

  /// What this process is about to do; `what()` follows the statement's number and place in an
  /// error.
  void say(StatementTag const& tag, std::function<std::string()> what);
  /// That it does nothing more.
  void say_end(StatementTag const& tag, std::function<std::string()> what);
  /// Tells the parent what it does not know yet. Cheap where that is nothing.
  void tell();

  void on_digests(ProcessId from, control::Digests const& digests);
  void on_compared(control::Compared const& compared);
  void on_ask(control::Ask const& ask);
  void on_account(ProcessId from, control::Account const& account);

  /// A neighbour with which more than `most` of this process's statements have not been compared.
  [[nodiscard]] std::optional<ProcessId> behind(std::uint64_t most) const;
  [[nodiscard]] std::vector<ProcessId> neighbours() const;

 private:
  /// A statement of this process.
  struct Said {
    std::uint64_t digest;
    StatementTag tag;
    std::function<std::string()> what;  ///< for people; asked where a difference is found
    bool is_end;
  };
  struct Child {
    ProcessId process;
    std::deque<std::uint64_t> digests;  ///< that came before this process was there
    std::uint64_t compared = 0;         ///< statements
    std::uint64_t known_compared = 0;   ///< of those, how many the child knows of
    bool has_ended = false;
    bool is_asked = false;
  };

  void keep(Said said);
  void compare(Child& child);
  void forget();
  [[nodiscard]] Child& child(ProcessId process);
  [[nodiscard]] control::Account account(std::uint64_t number) const;
  [[nodiscard]] Said const& own(std::uint64_t number) const;

  Postbox& postbox_;
  Failure& failure_;
  ProcessId self_;
  std::optional<ProcessId> parent_;
  std::uint64_t told_ = 0;  ///< to the parent
  std::uint64_t compared_by_parent_ = 0;
  std::vector<Child> children_;
  std::uint64_t said_ = 0;    ///< statements
  std::deque<Said> history_;  ///< the last of them, up to `said_`: those not yet compared by all
};

}  // namespace tessera
