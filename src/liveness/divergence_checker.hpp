#pragma once
/// @file
/// The divergence checker: compares the statements of all processes.
///
/// Each process reports its next statements, several at a time, to its parent in a tree of the
/// processes (its number with the lowest set bit cleared), and continues. The parent compares them
/// with its own statements as soon as both are known. A process that is too far ahead of a
/// neighbour in the tree waits. As the tree joins all processes, a difference between any two of
/// them shows along some edge. Only then does the parent request a description of the child's
/// statement.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/job/job.hpp"
#include "src/transport/protocol/control_channel.hpp"
#include "src/transport/protocol/control_messages.hpp"
#include "src/transport/protocol/failure.hpp"
#include "src/transport/protocol/message.hpp"

namespace tessera {

/// Threads: the caller's.
class DivergenceChecker {
 public:
  /// How many statements a process may be ahead of a neighbour.
  static constexpr std::uint64_t most_ahead = 256;

  /// A difference that is found becomes `failure`, a Mismatch.
  DivergenceChecker(ControlChannel& control_channel, Job const& job, Failure& failure);

  /// Announces the next statement of this process; in an error, `what()` follows the statement's
  /// number and place.
  void say(StatementTag const& tag, std::function<std::string()> what);
  /// Announces that this process has no further statements.
  void say_end(StatementTag const& tag, std::function<std::string()> what);
  /// Sends the parent all unreported statements. Cheap if there are none.
  void tell();
  /// The same, and asks for word as soon as all of them have been compared: before a wait for
  /// `behind(0)`.
  void tell_and_wait();

  // Throws: BadMessage for what neither a child nor the parent sends.
  void on_digests(ProcessId from, control::Digests const& digests);
  void on_compared(ProcessId from, control::Compared const& compared);
  void on_ask(ProcessId from, control::Ask const& ask);
  void on_description(ProcessId from, control::StatementDescription const& description);

  /// A neighbour with which more than `most` of this process's statements have not been compared.
  [[nodiscard]] std::optional<ProcessId> behind(std::uint64_t most) const;
  [[nodiscard]] std::vector<ProcessId> neighbours() const;

 private:
  /// A statement of this process.
  struct OwnStatement {
    std::uint64_t digest;
    StatementTag tag;
    std::function<std::string()> what;  ///< for people; called only if a difference is found
    bool is_end;
  };
  struct Child {
    ProcessId process;
    std::deque<std::uint64_t> digests;  ///< received before this process had reached them
    std::uint64_t compared = 0;         ///< statements
    std::uint64_t known_compared = 0;   ///< the number of them that the child knows
    bool has_ended = false;
    bool waits = false;
    bool is_asked = false;
  };

  void keep(OwnStatement said);
  void compare(Child& child);
  void forget();
  [[nodiscard]] Child& child(ProcessId process);
  void check_parent(ProcessId from) const;
  [[nodiscard]] control::StatementDescription description(std::uint64_t number) const;
  [[nodiscard]] OwnStatement const& own(std::uint64_t number) const;

  ControlChannel& control_channel_;
  Failure& failure_;
  ProcessId self_;
  std::optional<ProcessId> parent_;
  std::uint64_t told_ = 0;  ///< to the parent
  std::uint64_t compared_by_parent_ = 0;
  std::vector<Child> children_;
  std::uint64_t own_statements_ = 0;  ///< statements
  std::deque<OwnStatement>
      history_;  ///< the last of them, up to `own_statements_`: those not yet compared by all
};

}  // namespace tessera
