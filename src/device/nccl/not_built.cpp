#include "tessera/base/error.hpp"

#include "src/device/nccl/nccl.hpp"

namespace tessera::cuda {

GpuGroupTraits nccl_traits() {
  return {false, false, true, "Tessera was built without it (TESSERA_WITH_NCCL)"};
}

GpuGroupId make_nccl_id(int) {
  throw BackendNotBuilt("NCCL", "TESSERA_WITH_NCCL");
}

std::vector<std::unique_ptr<GpuGroup>> join_nccl(GpuGroupId const&, std::span<NcclPlace const>,
                                                 std::function<void(int)> const&) {
  throw BackendNotBuilt("NCCL", "TESSERA_WITH_NCCL");
}

std::vector<std::unique_ptr<GpuGroup>> adopt_nccl(std::span<ncclComm* const>,
                                                  std::span<NcclPlace const>) {
  throw BackendNotBuilt("NCCL", "TESSERA_WITH_NCCL");
}

}  // namespace tessera::cuda
