#pragma once
/// @file
/// A failure as one process tells others of it, and as they throw it.

#include <exception>
#include <set>
#include <string>

#include "tessera/base/error.hpp"
#include "tessera/base/ids.hpp"

#include "src/job/job.hpp"
#include "src/transport/protocol/control_messages.hpp"

namespace tessera {

/// Marks an error whose words name the process that gave up first: whoever hears of it from this
/// process takes them as they are.
class PassedOn {};

/// Another process gave up.
class PeerGaveUp final : public PeerFailed, public PassedOn {
 public:
  using PeerFailed::PeerFailed;
};
/// Another process gave up because the processes run different programs.
class PeerFoundMismatch final : public Mismatch, public PassedOn {
 public:
  using Mismatch::Mismatch;
};

/// Returns the message of any exception.
[[nodiscard]] std::string words_of(std::exception_ptr const& error);
/// Returns what the others are told of a failure of this process.
[[nodiscard]] control::Failed failure_message(std::exception_ptr const& error);
/// Returns what this process throws when `from` gives up: a PeerGaveUp or PeerFoundMismatch.
[[nodiscard]] std::exception_ptr to_exception(ProcessId from, control::Failed const& failed);

/// Returns the processes that this one tells of a failure: its peers, and those whose number
/// differs from its own in one bit. Each tells its own in turn, so all are told in a few steps,
/// also before any has sent another one anything.
[[nodiscard]] std::set<ProcessId> processes_to_tell(std::set<ProcessId> const& peers,
                                                    Job const& job);

}  // namespace tessera
