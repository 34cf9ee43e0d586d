#include "tessera/base/error.hpp"

#include "../served_calls.hpp"
#include "../transport.hpp"

namespace tessera {

std::unique_ptr<Transport> make_ucx_transport(Bootstrap& /*bootstrap*/) {
  return nullptr;
}

std::string why_no_ucx() {
  return "not in this build";
}

TransportTraits const* ucx_transport_traits() {
  return nullptr;
}

std::unique_ptr<ServedCalls> make_ucx_calls(HostAddress /*own*/, Serve /*serve*/) {
  throw BackendNotBuilt("UCX", "TESSERA_WITH_UCX");
}

}  // namespace tessera
