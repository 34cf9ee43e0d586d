#include "src/device/cuda/peers.hpp"

#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/device/cuda/check.hpp"
#include "src/device/cuda/event.hpp"
#include "src/device/handle_bytes.hpp"
#include "src/device/nccl/nccl.hpp"

namespace tessera::cuda {
namespace {

// Memory in blocks of 2 MiB: smaller allocations share their block with other memory of the
// process, which the other process would see too. Source: CUDA's Programming Guide, Interprocess
// Communication.
constexpr std::int64_t block_bytes = std::int64_t{2} << 20;

std::byte* take(int gpu, std::int64_t size_bytes) {
  make_current(gpu);
  auto const bytes = (size_bytes + block_bytes - 1) / block_bytes * block_bytes;
  void* memory = nullptr;
  check(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), "cudaMalloc", gpu);
  return static_cast<std::byte*>(memory);
}

class OwnMemory : public DeviceBuffer {
 public:
  OwnMemory(int gpu, std::int64_t size_bytes)
      : DeviceBuffer(take(gpu, size_bytes), size_bytes), gpu_(gpu) {}
  ~OwnMemory() override {
    report(try_make_current(gpu_), "cudaSetDevice", gpu_);
    report(cudaFree(data()), "cudaFree", gpu_);
  }

 private:
  int gpu_;
};

std::byte* open(int gpu, GpuHandle const& handle) {
  make_current(gpu);
  void* memory = nullptr;
  check(cudaIpcOpenMemHandle(&memory, content_of<cudaIpcMemHandle_t>(handle),
                             cudaIpcMemLazyEnablePeerAccess),
        "cudaIpcOpenMemHandle", gpu);
  return static_cast<std::byte*>(memory);
}

class OpenedMemory : public DeviceBuffer {
 public:
  OpenedMemory(int gpu, GpuHandle const& handle, std::int64_t size_bytes)
      : DeviceBuffer(open(gpu, handle), size_bytes), gpu_(gpu) {}
  ~OpenedMemory() override {
    report(try_make_current(gpu_), "cudaSetDevice", gpu_);
    report(cudaIpcCloseMemHandle(data()), "cudaIpcCloseMemHandle", gpu_);
  }

 private:
  int gpu_;
};

class Peers : public GpuPeers {
 public:
  explicit Peers(PeerEndpoint place) : place_(place) {}

  // Parts of a divided GPU share one bus address, but have numbers of their own.
  std::uint64_t gpu_identity() const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, place_.gpu), "cudaGetDeviceProperties", place_.gpu);
    return hash_text({properties.uuid.bytes, sizeof properties.uuid.bytes});
  }

  std::unique_ptr<DeviceBuffer> share_memory(std::int64_t size_bytes, GpuHandle& handle) override {
    auto memory = std::make_unique<OwnMemory>(place_.gpu, size_bytes);
    cudaIpcMemHandle_t native;
    check(cudaIpcGetMemHandle(&native, memory->data()), "cudaIpcGetMemHandle", place_.gpu);
    handle = handle_of(native);
    return memory;
  }
  std::unique_ptr<DeviceBuffer> open_memory(GpuHandle const& handle,
                                            std::int64_t size_bytes) override {
    return std::make_unique<OpenedMemory>(place_.gpu, handle, size_bytes);
  }
  // Opening it failed otherwise.
  bool stores_to(DeviceBuffer const&) const override { return true; }

  std::unique_ptr<GpuEvent> share_event(GpuHandle& handle) override {
    auto event = make_event(place_.gpu, cudaEventInterprocess);
    cudaIpcEventHandle_t native;
    check(cudaIpcGetEventHandle(&native, native_of(*event)), "cudaIpcGetEventHandle", place_.gpu);
    handle = handle_of(native);
    return event;
  }
  std::unique_ptr<GpuEvent> open_event(GpuHandle const& handle) override {
    cuda::make_current(place_.gpu);
    cudaEvent_t event = nullptr;
    check(cudaIpcOpenEventHandle(&event, content_of<cudaIpcEventHandle_t>(handle)),
          "cudaIpcOpenEventHandle", place_.gpu);
    return std::make_unique<Event>(place_.gpu, event);
  }

  std::unique_ptr<DeviceBuffer> make_plain_memory(std::int64_t size_bytes) override {
    return std::make_unique<OwnMemory>(place_.gpu, size_bytes);
  }
  MemoryKind library_memory() const override { return MemoryKind::gpu; }
  void make_current() override { cuda::make_current(place_.gpu); }
  std::byte* address_for_others(std::byte const* address) const override {
    return const_cast<std::byte*>(address);
  }

  GpuCommunicatorTraits communicator_traits() const override { return nccl_traits(); }
  GpuCommunicatorId make_group_id(std::int64_t) override { return make_nccl_id(place_.gpu); }
  std::vector<std::unique_ptr<GpuCommunicator>> join_communicator(
      GpuCommunicatorId const& id, std::int64_t first_rank, std::int64_t members,
      std::span<Queue* const> streams) override {
    auto const places = places_of(first_rank, members, streams);
    return join_nccl(id, places, [](int gpu) { cuda::make_current(gpu); });
  }
  std::vector<std::unique_ptr<GpuCommunicator>> adopt_communicator(
      std::span<void* const> communicators, std::int64_t first_rank, std::int64_t members,
      std::span<Queue* const> streams) override {
    std::vector<ncclComm*> native;
    for (auto* const given : communicators) native.push_back(static_cast<ncclComm*>(given));
    return adopt_nccl(native, places_of(first_rank, members, streams));
  }

 private:
  static std::vector<NcclMember> places_of(std::int64_t first_rank, std::int64_t members,
                                           std::span<Queue* const> streams) {
    std::vector<NcclMember> places;
    for (auto* const stream : streams) {
      auto const& place = static_cast<Peers&>(stream->peers()).place_;
      places.push_back({place.gpu, place.stream, first_rank + std::ssize(places), members});
    }
    return places;
  }

  PeerEndpoint place_;
};

}  // namespace

std::unique_ptr<GpuPeers> make_peers(PeerEndpoint place) {
  return std::make_unique<Peers>(place);
}

}  // namespace tessera::cuda
