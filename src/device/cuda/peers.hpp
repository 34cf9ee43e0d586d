#pragma once
/// @file
/// Memory and events that CUDA GPUs share with other processes.

#include <memory>

#include <cuda_runtime_api.h>

#include "src/device/gpu.hpp"

namespace tessera::cuda {

/// The GPU of a stream, and the stream that receives the work.
struct PeerEndpoint {
  int gpu = 0;
  cudaStream_t stream = nullptr;
};

[[nodiscard]] std::unique_ptr<GpuPeers> make_peers(PeerEndpoint place);

/// The event behind one that this backend made.
[[nodiscard]] cudaEvent_t native_of(GpuEvent const& event);
/// Throws: DeviceError.
[[nodiscard]] std::unique_ptr<GpuEvent> make_event(int gpu);

/// Directs the calling thread's CUDA calls to a GPU from now on. Queries the current GPU every
/// time, because other code may have changed it; the query only reads the thread's own memory.
/// Throws: DeviceError.
void make_current(int gpu);
[[nodiscard]] cudaError_t try_make_current(int gpu) noexcept;
/// Evaluates a query: true if the work is done. "Not yet" is no failure, although CUDA records it
/// as one.
/// Throws: DeviceError.
[[nodiscard]] bool is_done(cudaError_t answer, char const* call, int gpu);

}  // namespace tessera::cuda
