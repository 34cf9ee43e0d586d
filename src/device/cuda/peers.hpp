#pragma once
/// @file
/// What CUDA's GPUs share with those of other processes.

#include <memory>

#include <cuda_runtime_api.h>

#include "tessera/device/gpu.hpp"

namespace tessera::cuda {

/// A stream's place: whose it is, and where work is brought.
struct PeerPlace {
  int gpu = 0;
  cudaStream_t stream = nullptr;
};

[[nodiscard]] std::unique_ptr<GpuPeers> make_peers(PeerPlace place);

/// The event behind one that this backend made.
[[nodiscard]] cudaEvent_t native_of(GpuEvent const& event);
/// Throws: DeviceError.
[[nodiscard]] std::unique_ptr<GpuEvent> make_event(int gpu);

/// Calls of the calling thread go to a GPU from now on. Asking for the current one is a look into
/// the thread's own memory; others in the program may have changed it, so it is asked for every
/// time. Throws: DeviceError.
void make_current(int gpu);
[[nodiscard]] cudaError_t try_make_current(int gpu) noexcept;
/// A query: whether it is done. "Not yet" is no failure, but is kept as if it were one.
/// Throws: DeviceError.
[[nodiscard]] bool is_done(cudaError_t answer, char const* call, int gpu);

}  // namespace tessera::cuda
