#include "src/device/cuda/event.hpp"

namespace tessera::cuda {

std::unique_ptr<GpuEvent> make_event(int gpu, unsigned flags) {
  make_current(gpu);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | flags),
        "cudaEventCreateWithFlags", gpu);
  return std::make_unique<Event>(gpu, event);
}

}  // namespace tessera::cuda
