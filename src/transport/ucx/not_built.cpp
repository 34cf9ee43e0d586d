#include "../transport.hpp"

namespace tessera {

std::unique_ptr<Transport> make_ucx_transport(Bootstrap& /*bootstrap*/) {
  return nullptr;
}

bool has_ucx_transport() {
  return false;
}

}  // namespace tessera
