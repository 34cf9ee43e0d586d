#include "src/transport/mpi/backend.hpp"

namespace tessera {

TransportTraits const* mpi_transport_traits() {
  return nullptr;
}

std::unique_ptr<Transport> make_mpi_transport(Bootstrap& /*bootstrap*/) {
  return nullptr;
}

}  // namespace tessera
