#include "tessera/base/error.hpp"

#include "src/execution/gpu_channels/ucx_communicator.hpp"

namespace tessera {

GpuGroupTraits ucx_group_traits(GpuStream& /*stream*/) {
  return {.why_not = "not in this build"};
}

std::unique_ptr<UcxGroup> make_ucx_group(std::shared_ptr<GpuStream> /*stream*/,
                                         std::int64_t /*rank*/) {
  throw BackendNotBuilt("UCX", "TESSERA_WITH_UCX");
}

}  // namespace tessera
