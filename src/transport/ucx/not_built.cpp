#include "tessera/base/error.hpp"
#include "tessera/transport/ucx_group.hpp"

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

GpuGroupTraits ucx_group_traits(GpuStream& /*stream*/) {
  return {.why_not = why_no_ucx()};
}

std::unique_ptr<UcxGroup> make_ucx_group(std::shared_ptr<GpuStream> /*stream*/,
                                         std::int64_t /*rank*/) {
  throw BackendNotBuilt("UCX", "TESSERA_WITH_UCX");
}

std::unique_ptr<ServedCalls> make_ucx_calls(HostAddress /*own*/, Serve /*serve*/) {
  throw BackendNotBuilt("UCX", "TESSERA_WITH_UCX");
}

}  // namespace tessera
