#pragma once
/// @file
/// The other processes of a job before they have sent each other anything: those that /proc shows
/// on this host, recognised by the launcher's variables.

#include <cstdint>
#include <optional>
#include <vector>

#include "src/job/ipc/descriptor.hpp"
#include "src/job/ipc/process_state.hpp"
#include "src/job/launch.hpp"

namespace tessera {

/// How far a process is with its Runtime.
struct Progress {
  std::int64_t communicator = 0;  ///< a number that is equal for the members of one
  std::int64_t rank = 0;          ///< in it
  std::int64_t step = 0;          ///< how many collectives it has begun

  friend bool operator==(Progress const&, Progress const&) = default;
};

/// Shows the progress of this process to others of its user on this host: memory with a name that
/// /proc/<pid>/fd lists. Shows nothing where the system provides none.
class ProgressMark {
 public:
  ProgressMark();
  void show(Progress const& progress) const;

 private:
  Descriptor memory_;
};

/// The progress that a process of this host shows; nothing if it shows none, or none that a
/// ProgressMark has made.
/// Ranks: local.
[[nodiscard]] std::optional<Progress> progress_of(std::int64_t pid);

/// A process that the launcher of this one has started for the same job.
struct LaunchedProcess {
  std::int64_t number = 0;  ///< the launcher's: its rank in MPI_COMM_WORLD
  std::int64_t pid = 0;
  ProcessState state;
  std::optional<Progress> progress;  ///< if it shows any
};

/// Those of the same user that /proc shows here, by number, this one included. None without a
/// launcher's variables, in a container of its own, or if the system hides processes. A number with
/// several processes, as behind a shell, stands for the one that shows its progress, else for the
/// innermost; it is left out if there is more than one of those.
/// Ranks: local.
/// Cost:  reads four files for every process of the host.
[[nodiscard]] std::vector<LaunchedProcess> launched_processes(LaunchFacts const& own);

}  // namespace tessera
