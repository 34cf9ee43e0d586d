#include "tessera/base/error.hpp"

#include "src/job/bootstrap.hpp"

namespace tessera {

std::unique_ptr<Bootstrap> make_mpi_bootstrap(int& /*argc*/, char**& /*argv*/) {
  throw BackendNotBuilt("MPI", "TESSERA_WITH_MPI");
}

std::unique_ptr<Bootstrap> make_mpi_bootstrap(MpiCommunicator const& /*communicator*/) {
  throw BackendNotBuilt("MPI", "TESSERA_WITH_MPI");
}

}  // namespace tessera
