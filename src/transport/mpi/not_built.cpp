#include "tessera/base/error.hpp"
#include "tessera/transport/bootstrap.hpp"

#include "../transport.hpp"

namespace tessera {

std::unique_ptr<Bootstrap> make_mpi_bootstrap(int& /*argc*/, char**& /*argv*/) {
  throw BackendNotBuilt("MPI", "TESSERA_WITH_MPI");
}

std::unique_ptr<Bootstrap> make_mpi_bootstrap(MpiCommunicator const& /*communicator*/) {
  throw BackendNotBuilt("MPI", "TESSERA_WITH_MPI");
}

std::unique_ptr<Transport> make_mpi_transport(Bootstrap& /*bootstrap*/) {
  return nullptr;
}

TransportTraits const* mpi_transport_traits() {
  return nullptr;
}

}  // namespace tessera
