#include "src/device/cuda/driver.hpp"

#include <cstdint>
#include <memory>
#include <string>

#include <cuda_runtime_api.h>

#include "tessera/detail/base/assert.hpp"

#include "src/base/text.hpp"
#include "src/device/cuda/check.hpp"
#include "src/device/cuda/kernels.hpp"
#include "src/device/cuda/memory.hpp"
#include "src/device/cuda/peers.hpp"
#include "src/device/cuda/queue.hpp"

namespace tessera {
namespace {

using cuda::check;

class CudaDriver final : public DeviceDriver {
 public:
  CudaDriver() : DeviceDriver({.are_dealt_out = true}) {}

  DeviceKind kind() const override { return DeviceKind::cuda; }
  int count() const override { return count_; }
  std::string reason_for_none() const override {
    return "the CUDA driver shows none to this process; see nvidia-smi and CUDA_VISIBLE_DEVICES";
  }
  std::int64_t devices_alone() const override { return count_; }

  GpuFacts facts(int gpu) const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties", gpu);
    char bus[32] = {};
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, gpu), "cudaDeviceGetPCIBusId", gpu);
    std::string place(bus);
    for (char& letter : place)
      if (letter >= 'A' && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
    return {properties.name, place, static_cast<std::int64_t>(properties.totalGlobalMem),
            properties.multiProcessorCount};
  }

  std::shared_ptr<Queue> make_queue(int gpu) override {
    cuda::prepare_pool(gpu);
    cuda::make_current(gpu);
    check(cuda::load_kernels(), "the loading of kernels", gpu);
    return cuda::make_queue(gpu);
  }

 private:
  int count_ = cuda::count_gpus();
};

}  // namespace

std::unique_ptr<DeviceDriver> make_cuda_driver() {
  return std::make_unique<CudaDriver>();
}

bool has_cuda_driver() {
  return true;
}

}  // namespace tessera
