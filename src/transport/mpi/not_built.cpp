#include "tessera/base/error.hpp"
#include "tessera/transport/bootstrap.hpp"

#include "../transport.hpp"

namespace tessera {

std::unique_ptr<Bootstrap> make_mpi_bootstrap(int& /*argc*/, char**& /*argv*/) {
  throw BackendNotBuilt("MPI", "TESSERA_WITH_MPI");
}

std::unique_ptr<Transport> make_mpi_transport(Bootstrap& /*bootstrap*/) {
  return nullptr;
}

bool has_mpi_transport() {
  return false;
}

}  // namespace tessera
