#include "src/device/cuda/queue.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include <cuda_runtime_api.h>

#include "tessera/detail/base/assert.hpp"

#include "src/base/text.hpp"
#include "src/device/cuda/check.hpp"
#include "src/device/cuda/driver.hpp"
#include "src/device/cuda/event.hpp"
#include "src/device/cuda/graph.hpp"
#include "src/device/cuda/kernels.hpp"
#include "src/device/cuda/memory.hpp"
#include "src/device/cuda/peers.hpp"
#include "src/device/native_launch.hpp"
#include "src/device/strided_moves.hpp"

namespace tessera::cuda {
namespace {

constexpr std::int64_t least_bytes = 256;  // so that every piece of memory has its own address

int attribute_of(int gpu, cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, gpu), "cudaDeviceGetAttribute", gpu);
  return value;
}

class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(int gpu)
      : Queue({.name = "cuda",
               .needs_native_kernels = true,
               .how_to_have_kernels = how_to_have_cuda_kernels,
               .how_to_have_memory = "allocate it by cudaMalloc on that GPU"}),
        gpu_(gpu),
        multiprocessors_(attribute_of(gpu, cudaDevAttrMultiProcessorCount)) {
    make_current(gpu_);
    // It does not wait for work of the default stream.
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
          gpu_);
    peers_ = cuda::make_peers({gpu_, stream_});
  }
  // Its work may still read memory of the host.
  ~CudaQueue() override {
    report(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", gpu_);
    report(cudaStreamDestroy(stream_), "cudaStreamDestroy", gpu_);
  }

  std::byte* allocate(std::int64_t size_bytes) override {
    refuse_while_recording("new memory");
    make_current(gpu_);
    void* memory = nullptr;
    auto const bytes = static_cast<std::size_t>(std::max(size_bytes, least_bytes));
    auto const answer = cudaMallocAsync(&memory, bytes, stream_);
    if (answer != cudaSuccess)
      check(answer,
            text("cudaMallocAsync of ", size_bytes, " bytes (", bytes_text(size_bytes), ")"), gpu_);
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) noexcept override {
    TESSERA_ASSERT(!capture_, "memory goes while a graph is made");
    report(try_make_current(gpu_), "cudaSetDevice", gpu_);
    report(cudaFreeAsync(memory, stream_), "cudaFreeAsync", gpu_);
  }
  bool owns(std::byte const* address) const override {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes", gpu_);
    return attributes.type == cudaMemoryTypeDevice && attributes.device == gpu_;
  }
  std::shared_ptr<Queue> make_sibling() override { return std::make_shared<CudaQueue>(gpu_); }
  bool stores_to(Queue const& other) const override {
    // The other GPU's pool was prepared so that all capable GPUs can access it.
    auto const gpu = static_cast<CudaQueue const&>(other).gpu_;
    return gpu == gpu_ || can_reach(gpu_, gpu);
  }

  std::unique_ptr<DeviceBuffer> make_pinned(std::int64_t size_bytes) override {
    refuse_while_recording("new memory");
    return cuda::make_pinned(gpu_, std::max(size_bytes, least_bytes));
  }

  void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) override {
    if (size_bytes == 0) return;
    if (capture_ && !(is_on_gpu(to) && is_on_gpu(from)))
      refuse_while_recording("memory of the host");
    make_current(gpu_);
    check(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(size_bytes), cudaMemcpyDefault, stream_),
        "cudaMemcpyAsync", gpu_);
  }
  void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                  StridedBlock const& from) override {
    move(plan_copy(to_base, to, from_base, from), "the launch of a copy");
  }
  void pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
            std::byte* to, std::int64_t size_bytes) override {
    move(plan_pack(base, block, first_byte, to, size_bytes), "the launch that packs a message");
  }
  void unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
              std::byte const* from, std::int64_t size_bytes) override {
    move(plan_unpack(base, block, first_byte, from, size_bytes),
         "the launch that unpacks a message");
  }
  void fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes) override {
    make_current(gpu_);
    check(cuda::launch_fill(to, pattern, size_bytes, place()), "the launch that fills memory",
          gpu_);
  }

  void launch(KernelLaunch const& launch) override {
    make_current(gpu_);
    auto const error = launch_natively(*this, launch, {stream_, multiprocessors_});
    if (error == 0) return;
    check(static_cast<cudaError_t>(error), text("the statement at ", launch.kernel->location),
          gpu_);
  }

  std::unique_ptr<GpuEvent> make_event() override { return cuda::make_event(gpu_); }
  void record(GpuEvent& event) override {
    refuse_while_recording("an event");
    make_current(gpu_);
    check(cudaEventRecord(native_of(event), stream_), "cudaEventRecord", gpu_);
  }
  void wait(GpuEvent const& event) override {
    refuse_while_recording("an event");
    make_current(gpu_);
    check(cudaStreamWaitEvent(stream_, native_of(event), 0), "cudaStreamWaitEvent", gpu_);
  }
  bool is_idle() override {
    refuse_while_recording("a question");
    return is_done(cudaStreamQuery(stream_), "cudaStreamQuery", gpu_);
  }

  std::unique_ptr<GpuGraph> make_graph(std::function<void()> const& bring) override {
    refuse_while_recording("a graph");
    make_current(gpu_);
    struct End {
      std::optional<Capture>& capture;
      ~End() { capture.reset(); }
    } const end{capture_};
    capture_.emplace(stream_, gpu_);
    bring();
    make_current(gpu_);
    return capture_->end();
  }
  void run(GpuGraph const& graph) override {
    refuse_while_recording("a run of one");
    make_current(gpu_);
    check(cudaGraphLaunch(static_cast<Graph const&>(graph).native(), stream_), "cudaGraphLaunch",
          gpu_);
  }

  int multiprocessors() const override { return multiprocessors_; }
  GpuPeers& peers() override { return *peers_; }

 private:
  void refuse_while_recording(std::string_view what) const {
    if (capture_) refuse_in_graph(what);
  }
  [[nodiscard]] bool is_on_gpu(std::byte const* address) const {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes", gpu_);
    return attributes.type == cudaMemoryTypeDevice;
  }
  [[nodiscard]] LaunchTarget place() const { return {stream_, multiprocessors_}; }
  void move(GpuMoves const& moves, std::string_view what) {
    make_current(gpu_);
    check(cuda::launch_moves(moves, place()), what, gpu_);
  }

  int gpu_;
  int multiprocessors_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<GpuPeers> peers_;
  std::optional<Capture> capture_;  // while a graph is made
};

}  // namespace

std::shared_ptr<Queue> make_queue(int gpu) {
  return std::make_shared<CudaQueue>(gpu);
}

}  // namespace tessera::cuda
