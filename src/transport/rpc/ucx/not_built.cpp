#include "tessera/base/error.hpp"

#include "src/transport/rpc/served_calls.hpp"

namespace tessera {

std::unique_ptr<ServedCalls> make_ucx_calls(ServedCallTools const& /*tools*/, Serve /*serve*/) {
  throw BackendNotBuilt("UCX", "TESSERA_WITH_UCX");
}

}  // namespace tessera
