#pragma once
/// @file
/// For programs that have MPI already, and hand one of its communicators to their Runtime.
/// Optional: the one header that brings mpi.h. Programs that include it link tessera::mpi.

#include <mpi.h>

namespace tessera {

/// A communicator of the program's, as `Runtime` takes it: `tessera::Runtime
/// runtime(communicator);`
class MpiCommunicator {
 public:
  MpiCommunicator(MPI_Comm handle) : handle_(handle) {}

  [[nodiscard]] MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_;
};

}  // namespace tessera
