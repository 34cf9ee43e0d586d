#include "tessera/base/error.hpp"

#include "src/device/nccl/nccl.hpp"

namespace tessera::cuda {

GpuCommunicatorTraits nccl_traits() {
  return {false, false, true, "Tessera was built without it (TESSERA_WITH_NCCL)"};
}

GpuCommunicatorId make_nccl_id(int) {
  throw BackendNotBuilt("NCCL", "TESSERA_WITH_NCCL");
}

std::vector<std::unique_ptr<GpuCommunicator>> join_nccl(GpuCommunicatorId const&,
                                                        std::span<NcclMember const>,
                                                        std::function<void(int)> const&) {
  throw BackendNotBuilt("NCCL", "TESSERA_WITH_NCCL");
}

std::vector<std::unique_ptr<GpuCommunicator>> adopt_nccl(std::span<ncclComm* const>,
                                                         std::span<NcclMember const>) {
  throw BackendNotBuilt("NCCL", "TESSERA_WITH_NCCL");
}

}  // namespace tessera::cuda
