#include "src/transport/ucx/backend.hpp"

namespace tessera {

TransportTraits const* ucx_transport_traits() {
  return nullptr;
}

std::unique_ptr<Transport> make_ucx_transport(Bootstrap& /*bootstrap*/, JobSecret const& /*secret*/,
                                              Refused& /*refused*/) {
  return nullptr;
}

std::string reason_without_ucx() {
  return "not in this build";
}

}  // namespace tessera
