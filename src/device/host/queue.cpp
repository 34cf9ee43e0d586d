#include "src/device/queue.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/host/event.hpp"
#include "src/device/host/launch.hpp"
#include "src/device/host/memory.hpp"

namespace tessera {
namespace {

constexpr std::int64_t alignment = 256;

// All work is done by the call that adds it.
class HostQueue final : public Queue {
 public:
  HostQueue() : Queue({.name = "cpu", .is_eager = true, .host_reaches_memory = true}) {}

  std::byte* allocate(std::int64_t size_bytes) override {
    auto const bytes = (std::max<std::int64_t>(size_bytes, 1) + alignment - 1) / alignment;
    void* const memory = std::aligned_alloc(static_cast<std::size_t>(alignment),
                                            static_cast<std::size_t>(bytes * alignment));
    if (memory != nullptr) return static_cast<std::byte*>(memory);
    throw DeviceError(text("a host device cannot have ", size_bytes, " bytes (",
                           bytes_text(size_bytes), ") of memory"));
  }
  void release(std::byte* memory) noexcept override { std::free(memory); }
  bool owns(std::byte const* /*address*/) const override { return true; }
  std::shared_ptr<Queue> make_sibling() override { return shared_host_queue(); }
  bool stores_to(Queue const& other) const override { return other.traits().host_reaches_memory; }
  std::unique_ptr<DeviceBuffer> make_pinned(std::int64_t size_bytes) override {
    return host::make_buffer(size_bytes);
  }

  void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) override {
    std::copy_n(from, size_bytes, to);
  }
  void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                  StridedBlock const& from) override {
    tessera::copy_block(to_base, to, from_base, from);
  }
  void copy_block_non_temporal(std::byte* to_base, StridedBlock const& to,
                               std::byte const* from_base, StridedBlock const& from) override {
    tessera::copy_block_non_temporal(to_base, to, from_base, from);
  }
  void pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
            std::byte* to, std::int64_t size_bytes) override {
    (void)tessera::pack(base, block, first_byte, {to, static_cast<std::size_t>(size_bytes)});
  }
  void unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
              std::byte const* from, std::int64_t size_bytes) override {
    (void)tessera::unpack(base, block, first_byte, {from, static_cast<std::size_t>(size_bytes)});
  }
  void fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes) override {
    for (std::int64_t at = 0; at < size_bytes; at += 8)
      std::memcpy(to + at, &pattern, sizeof pattern);
  }
  void launch(KernelLaunch const& launch) override { host::launch(launch); }

  std::unique_ptr<GpuEvent> make_event() override { return std::make_unique<host::Event>(); }
  void record(GpuEvent& /*event*/) override {}
  void wait(GpuEvent const& /*event*/) override {}
  bool is_idle() override { return true; }

  std::unique_ptr<GpuGraph> make_graph(std::function<void()> const& /*bring*/) override {
    throw DeviceError("a host device does its work at once and records no graphs");
  }
  void run(GpuGraph const& /*graph*/) override {
    throw DeviceError("a host device does its work at once and runs no graphs");
  }

  int multiprocessors() const override { return 1; }
  GpuPeers& peers() override {
    throw DeviceError("host devices have no peers; processes of a host share memory by channels");
  }
};

}  // namespace

Queue& host_queue() {
  // Never destroyed: arrays of static lifetime may end after everything else.
  static auto& queue = *new HostQueue;
  return queue;
}

std::shared_ptr<Queue> shared_host_queue() {
  return {std::shared_ptr<void>(), &host_queue()};
}

}  // namespace tessera
