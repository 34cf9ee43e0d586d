#pragma once
/// @file
/// Memory and events that CUDA GPUs share with other processes.

#include <memory>

#include <cuda_runtime_api.h>

#include "src/device/peers.hpp"

namespace tessera::cuda {

/// The GPU of a stream, and the stream that receives the work.
struct PeerEndpoint {
  int gpu = 0;
  cudaStream_t stream = nullptr;
};

[[nodiscard]] std::unique_ptr<GpuPeers> make_peers(PeerEndpoint place);

}  // namespace tessera::cuda
