#pragma once
/// @file
/// Graphs of CUDA, made by recording a stream.

#include <memory>

#include <cuda_runtime_api.h>

#include "src/device/cuda/check.hpp"
#include "src/device/queue.hpp"

namespace tessera::cuda {

class Graph final : public GpuGraph {
 public:
  Graph(cudaGraphExec_t graph, int gpu) : graph_(graph), gpu_(gpu) {}
  ~Graph() override { report(cudaGraphExecDestroy(graph_), "cudaGraphExecDestroy", gpu_); }

  [[nodiscard]] cudaGraphExec_t native() const { return graph_; }

 private:
  cudaGraphExec_t graph_;
  int gpu_;
};

/// While it lives, a stream records work instead of doing it.
class Capture {
 public:
  Capture(cudaStream_t stream, int gpu) : stream_(stream), gpu_(gpu) {
    // Calls of other threads are not captured, and not refused.
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture", gpu_);
  }
  ~Capture() {
    if (!has_ended_) {
      // The error that ended the capture has been reported.
      (void)cudaStreamEndCapture(stream_, &graph_);
      (void)cudaGetLastError();
    }
    if (graph_ != nullptr) report(cudaGraphDestroy(graph_), "cudaGraphDestroy", gpu_);
  }
  Capture(Capture const&) = delete;
  Capture& operator=(Capture const&) = delete;

  [[nodiscard]] std::unique_ptr<Graph> end() {
    has_ended_ = true;
    check(cudaStreamEndCapture(stream_, &graph_), "cudaStreamEndCapture", gpu_);
    cudaGraphExec_t ready = nullptr;
    check(cudaGraphInstantiate(&ready, graph_, 0), "cudaGraphInstantiate", gpu_);
    auto graph = std::make_unique<Graph>(ready, gpu_);
    // Otherwise the first run would upload it.
    check(cudaGraphUpload(ready, stream_), "cudaGraphUpload", gpu_);
    return graph;
  }

 private:
  cudaStream_t stream_;
  int gpu_;
  cudaGraph_t graph_ = nullptr;
  bool has_ended_ = false;
};

}  // namespace tessera::cuda
