#include "src/device/cuda/memory.hpp"

#include <cstddef>
#include <limits>

#include <cuda_runtime_api.h>

#include "src/base/text.hpp"
#include "src/device/cuda/check.hpp"
#include "src/device/cuda/peers.hpp"

namespace tessera::cuda {
namespace {

std::byte* take_pinned(int gpu, std::int64_t size_bytes) {
  make_current(gpu);
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, static_cast<std::size_t>(size_bytes), cudaHostAllocPortable),
        text("cudaHostAlloc of ", size_bytes, " bytes"), gpu);
  return static_cast<std::byte*>(memory);
}

class PinnedMemory final : public DeviceBuffer {
 public:
  PinnedMemory(int gpu, std::int64_t size_bytes)
      : DeviceBuffer(take_pinned(gpu, size_bytes), size_bytes), gpu_(gpu) {}
  ~PinnedMemory() override { report(cudaFreeHost(data()), "cudaFreeHost", gpu_); }

 private:
  int gpu_;
};

}  // namespace

int count_gpus() {
  int count = 0;
  // Without a driver it fails and leaves the count alone.
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();
  return 0;
}

bool can_reach(int gpu, int other) {
  int reaches = 0;
  check(cudaDeviceCanAccessPeer(&reaches, gpu, other), "cudaDeviceCanAccessPeer", gpu);
  return reaches != 0;
}

void prepare_pool(int gpu) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, gpu), "cudaDeviceGetDefaultMemPool", gpu);
  auto keeps = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keeps),
        "cudaMemPoolSetAttribute", gpu);
  for (int other = 0; other < count_gpus(); ++other) {
    if (other == gpu || !can_reach(other, gpu)) continue;
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = other;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    check(cudaMemPoolSetAccess(pool, &access, 1), "cudaMemPoolSetAccess", gpu);
  }
}

std::unique_ptr<DeviceBuffer> make_pinned(int gpu, std::int64_t size_bytes) {
  return std::make_unique<PinnedMemory>(gpu, size_bytes);
}

}  // namespace tessera::cuda
