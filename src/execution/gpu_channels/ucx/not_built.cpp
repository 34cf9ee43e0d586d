#include "tessera/base/error.hpp"

#include "src/execution/gpu_channels/ucx_communicator.hpp"

namespace tessera {

GpuCommunicatorTraits ucx_communicator_traits(Queue& /*stream*/) {
  return {.reason = "not in this build"};
}

std::unique_ptr<UcxCommunicator> make_ucx_communicator(std::shared_ptr<Queue> /*stream*/,
                                                       std::int64_t /*rank*/,
                                                       JobSecret const& /*secret*/) {
  throw BackendNotBuilt("UCX", "TESSERA_WITH_UCX");
}

}  // namespace tessera
