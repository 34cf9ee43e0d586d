#include "tessera/detail/base/assert.hpp"

#include "src/kernels/products/gpu_cells.hpp"

namespace tessera {

bool has_gpu_products() {
  return false;
}

int launch_on_gpu(ProductType, Product const&, GpuPlace const&) {
  TESSERA_ASSERT(false, "a product for GPUs in a library without them");
  return 0;
}

}  // namespace tessera
