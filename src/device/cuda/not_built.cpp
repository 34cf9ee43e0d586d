#include "tessera/base/error.hpp"

#include "src/device/cuda/driver.hpp"

namespace tessera {

std::unique_ptr<DeviceDriver> make_cuda_driver() {
  throw BackendNotBuilt("CUDA", "TESSERA_WITH_CUDA");
}

bool has_cuda_driver() {
  return false;
}

}  // namespace tessera
