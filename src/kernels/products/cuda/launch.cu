#include <algorithm>

#include <cuda_runtime_api.h>

#include "src/kernels/products/gpu_cells.hpp"

namespace tessera {
namespace {

constexpr unsigned threads = 128;
constexpr std::int64_t blocks_per_multiprocessor = 16;

// Neighbouring threads compute neighbouring tiles of a row of tiles.
template <class Cells>
__global__ void __launch_bounds__(threads)
    multiply_cells(__grid_constant__ Product const product, std::int64_t tiles) {
  auto const stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (auto t = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; t < tiles;
       t += stride)
    GpuTile<Cells>(product, t).run();
}

}  // namespace

bool has_gpu_products() {
  return true;
}

int launch_on_gpu(ProductType type, Product const& product, GpuPlace const& place) {
  auto tiles = gpu_tiles(product);
  if (tiles == 0) return cudaSuccess;
  auto const wanted = (tiles + threads - 1) / threads;
  auto const most = place.multiprocessors * blocks_per_multiprocessor;
  dim3 const blocks(static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most)));
  return with_gpu_cells(type, [&]<class Cells>() -> int {
    auto argument = product;
    void* arguments[] = {&argument, &tiles};
    return cudaLaunchKernel(reinterpret_cast<void const*>(&multiply_cells<Cells>), blocks,
                            dim3(threads), arguments, 0, static_cast<cudaStream_t>(place.stream));
  });
}

}  // namespace tessera
