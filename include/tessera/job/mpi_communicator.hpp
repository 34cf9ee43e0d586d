#pragma once
/// @file
/// For programs that already use MPI and pass one of its communicators to their Runtime. Optional:
/// the only header that includes mpi.h. Programs that include it link tessera::mpi.

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
