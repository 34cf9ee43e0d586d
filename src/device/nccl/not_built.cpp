#include "tessera/base/error.hpp"

#include "nccl.hpp"

namespace tessera::cuda {

GpuGroupTraits nccl_traits() {
  return {false, false, true, "nccl.h was not found when Tessera was built"};
}

GpuGroupId make_nccl_id(int) {
  throw BackendNotBuilt("NCCL", "TESSERA_WITH_NCCL");
}

std::unique_ptr<GpuGroup> join_nccl(NcclPlace const&, GpuGroupId const&) {
  throw BackendNotBuilt("NCCL", "TESSERA_WITH_NCCL");
}

}  // namespace tessera::cuda
