#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <cuda_runtime_api.h>

#include "tessera/base/assert.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/gpu.hpp"

#include "check.hpp"
#include "kernels.hpp"
#include "peers.hpp"

namespace tessera {
namespace {

using cuda::check;
using cuda::is_done;
using cuda::make_current;
using cuda::report;
using cuda::try_make_current;

constexpr std::int64_t least_bytes = 256;  // so that every piece of memory has its own address

int attribute_of(int gpu, cudaDeviceAttr attribute) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, gpu), "cudaDeviceGetAttribute", gpu);
  return value;
}

int count_gpus() {
  int count = 0;
  // Without a driver it fails and leaves the count alone.
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();
  return 0;
}

// Whether a GPU reads and writes memory of another one.
bool can_reach(int gpu, int other) {
  int reaches = 0;
  check(cudaDeviceCanAccessPeer(&reaches, gpu, other), "cudaDeviceCanAccessPeer", gpu);
  return reaches != 0;
}

// The memory that the streams of a GPU take theirs from: it keeps what they release, and other GPUs
// reach it where the wires allow it.
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

// Host memory whose pages stay, so that a GPU copies from and to it by itself.
std::byte* take_pinned(int gpu, std::int64_t size_bytes) {
  make_current(gpu);
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, static_cast<std::size_t>(size_bytes), cudaHostAllocPortable),
        text("cudaHostAlloc of ", size_bytes, " bytes"), gpu);
  return static_cast<std::byte*>(memory);
}

class PinnedMemory : public GpuRegion {
 public:
  PinnedMemory(int gpu, std::int64_t size_bytes)
      : GpuRegion(take_pinned(gpu, size_bytes), size_bytes), gpu_(gpu) {}
  ~PinnedMemory() override { report(cudaFreeHost(data()), "cudaFreeHost", gpu_); }

 private:
  int gpu_;
};

class CudaGraph : public GpuGraph {
 public:
  CudaGraph(cudaGraphExec_t graph, int gpu) : graph_(graph), gpu_(gpu) {}
  ~CudaGraph() override { report(cudaGraphExecDestroy(graph_), "cudaGraphExecDestroy", gpu_); }

  [[nodiscard]] cudaGraphExec_t native() const { return graph_; }

 private:
  cudaGraphExec_t graph_;
  int gpu_;
};

// While it lives, a stream keeps what it is brought.
class Capture {
 public:
  Capture(cudaStream_t stream, int gpu) : stream_(stream), gpu_(gpu) {
    // What other threads do meanwhile is no part of it, and not refused.
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture", gpu_);
  }
  ~Capture() {
    if (!has_ended_) {
      // What broke it off has been told.
      (void)cudaStreamEndCapture(stream_, &graph_);
      (void)cudaGetLastError();
    }
    if (graph_ != nullptr) report(cudaGraphDestroy(graph_), "cudaGraphDestroy", gpu_);
  }
  Capture(Capture const&) = delete;
  Capture& operator=(Capture const&) = delete;

  [[nodiscard]] std::unique_ptr<CudaGraph> end() {
    has_ended_ = true;
    check(cudaStreamEndCapture(stream_, &graph_), "cudaStreamEndCapture", gpu_);
    cudaGraphExec_t ready = nullptr;
    check(cudaGraphInstantiate(&ready, graph_, 0), "cudaGraphInstantiate", gpu_);
    auto graph = std::make_unique<CudaGraph>(ready, gpu_);
    // Else the first run would do it.
    check(cudaGraphUpload(ready, stream_), "cudaGraphUpload", gpu_);
    return graph;
  }

 private:
  cudaStream_t stream_;
  int gpu_;
  cudaGraph_t graph_ = nullptr;
  bool has_ended_ = false;
};

class CudaStream : public GpuStream {
 public:
  explicit CudaStream(int gpu)
      : gpu_(gpu), multiprocessors_(attribute_of(gpu, cudaDevAttrMultiProcessorCount)) {
    make_current(gpu_);
    // It does not wait for work of the stream that others use by default.
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
          gpu_);
    peers_ = cuda::make_peers({gpu_, stream_});
  }
  // Its work may still read memory of the host.
  ~CudaStream() override {
    report(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", gpu_);
    report(cudaStreamDestroy(stream_), "cudaStreamDestroy", gpu_);
  }

  std::byte* allocate(std::int64_t size_bytes) override {
    refuse_while_keeping("new memory");
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
  std::shared_ptr<GpuStream> make_sibling() override { return std::make_shared<CudaStream>(gpu_); }
  bool stores_to(GpuStream const& other) const override {
    // Whoever prepared the other's pool let all GPUs reach it that can.
    auto const gpu = static_cast<CudaStream const&>(other).gpu_;
    return gpu == gpu_ || can_reach(gpu_, gpu);
  }

  std::unique_ptr<GpuRegion> make_pinned(std::int64_t size_bytes) override {
    refuse_while_keeping("new memory");
    return std::make_unique<PinnedMemory>(gpu_, std::max(size_bytes, least_bytes));
  }

  void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) override {
    if (size_bytes == 0) return;
    if (capture_ && !(is_on_gpu(to) && is_on_gpu(from))) refuse_while_keeping("memory of the host");
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

  std::unique_ptr<GpuEvent> make_event() override { return cuda::make_event(gpu_); }
  void record(GpuEvent& event) override {
    refuse_while_keeping("an event");
    make_current(gpu_);
    check(cudaEventRecord(cuda::native_of(event), stream_), "cudaEventRecord", gpu_);
  }
  void wait(GpuEvent const& event) override {
    refuse_while_keeping("an event");
    make_current(gpu_);
    check(cudaStreamWaitEvent(stream_, cuda::native_of(event), 0), "cudaStreamWaitEvent", gpu_);
  }
  bool is_idle() override {
    refuse_while_keeping("a question");
    return is_done(cudaStreamQuery(stream_), "cudaStreamQuery", gpu_);
  }

  std::unique_ptr<GpuGraph> make_graph(std::function<void()> const& bring) override {
    refuse_while_keeping("a graph");
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
    refuse_while_keeping("a run of one");
    make_current(gpu_);
    check(cudaGraphLaunch(static_cast<CudaGraph const&>(graph).native(), stream_),
          "cudaGraphLaunch", gpu_);
  }

  void* native() const override {
    make_current(gpu_);  // whoever asks launches a kernel next
    return stream_;
  }
  void check_launch(int error, std::string_view what) const override {
    check(static_cast<cudaError_t>(error), what, gpu_);
  }
  int multiprocessors() const override { return multiprocessors_; }
  GpuPeers& peers() override { return *peers_; }

  void defer(std::function<void()>) override {
    TESSERA_ASSERT(false, "work of the host cannot run on a GPU");
  }
  std::byte* reach(std::byte const*) const override {
    TESSERA_ASSERT(false, "the host does not reach memory of a GPU");
    return nullptr;
  }

 private:
  void refuse_while_keeping(std::string_view what) const {
    if (capture_) refuse_in_graph(what);
  }
  [[nodiscard]] bool is_on_gpu(std::byte const* address) const {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes", gpu_);
    return attributes.type == cudaMemoryTypeDevice;
  }
  [[nodiscard]] cuda::LaunchPlace place() const { return {stream_, multiprocessors_}; }
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

class CudaDriver : public GpuDriver {
 public:
  std::string_view name() const override { return "cuda"; }
  int count() const override { return count_; }

  GpuFacts facts(int gpu) const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties", gpu);
    char bus[32] = {};
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, gpu), "cudaDeviceGetPCIBusId", gpu);
    std::string place(bus);
    for (char& letter : place)
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return {properties.name, place, static_cast<std::int64_t>(properties.totalGlobalMem),
            properties.multiProcessorCount};
  }

  std::shared_ptr<GpuStream> make_stream(int gpu) override {
    prepare_pool(gpu);
    make_current(gpu);
    check(cuda::load_kernels(), "the loading of kernels", gpu);
    return std::make_shared<CudaStream>(gpu);
  }

 private:
  int count_ = count_gpus();
};

}  // namespace

std::unique_ptr<GpuDriver> make_cuda_driver() {
  return std::make_unique<CudaDriver>();
}

bool has_cuda_driver() {
  return true;
}

}  // namespace tessera
