#pragma once
/// @file
/// Events of CUDA.

#include <memory>

#include <cuda_runtime_api.h>

#include "src/device/cuda/check.hpp"
#include "src/device/queue.hpp"

namespace tessera::cuda {

class Event final : public GpuEvent {
 public:
  Event(int gpu, cudaEvent_t event) : gpu_(gpu), event_(event) {}
  // The work before it need not be done.
  ~Event() override { report(cudaEventDestroy(event_), "cudaEventDestroy", gpu_); }

  bool has_passed() override { return is_done(cudaEventQuery(event_), "cudaEventQuery", gpu_); }

  [[nodiscard]] cudaEvent_t native() const { return event_; }

 private:
  int gpu_;
  cudaEvent_t event_;
};

/// The event behind one that this backend made.
[[nodiscard]] inline cudaEvent_t native_of(GpuEvent const& event) {
  return static_cast<Event const&>(event).native();
}
/// An event without times, with more of CUDA's flags. Throws: DeviceError.
[[nodiscard]] std::unique_ptr<GpuEvent> make_event(int gpu, unsigned flags = 0);

}  // namespace tessera::cuda
