#pragma once
/// @file
/// Communicators of MPI, and whether they and MPI itself can be used.

#include <cstdint>
#include <optional>

#include "src/job/launched_processes.hpp"
#include "src/job/mpi/mpi.hpp"

namespace tessera::mpi {

/// Initialises MPI with FUNNELED, if it is not initialised. True if it was not.
/// Throws: UsageError if it has been finalised, or belongs to another thread.
bool initialise(int& argc, char**& argv);
/// A communicator of the program's.
/// Throws: UsageError if MPI or the communicator cannot be used.
[[nodiscard]] MPI_Comm checked(MPI_Comm communicator);

/// One with the same processes, whose errors are returned. A collective that blocks.
[[nodiscard]] MPI_Comm duplicate(MPI_Comm original);
void free_communicator(MPI_Comm& communicator);

/// The rank in `to` of the process that has a rank in `from`; nothing if it is no member. Local.
[[nodiscard]] std::optional<std::int64_t> translated(int rank, MPI_Comm from, MPI_Comm to);
/// How this process shows its progress. The number of the communicator tells it from others that
/// the same processes may be members of: its size, and its first process. Local.
[[nodiscard]] Progress progress_in(MPI_Comm communicator);

}  // namespace tessera::mpi
