#pragma once
/// @file
/// The queue of an emulated GPU.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "src/device/emulated/event.hpp"
#include "src/device/emulated/memory.hpp"
#include "src/device/emulated/peers.hpp"
#include "src/device/emulated/progress.hpp"
#include "src/device/queue.hpp"

namespace tessera::emulated {

/// Does its work on a thread of its own, as late as it can: when somebody asks whether it is done.
class Queue final : public tessera::Queue {
 public:
  Queue(std::shared_ptr<Memory> memory, std::size_t gpu);
  ~Queue() override;

  /// Calls `work` after all work so far; work of a graph in each of its runs.
  void defer(std::function<void()> work);
  /// Where the host reaches an address of the GPU. For deferred work only.
  [[nodiscard]] std::byte* reach(std::byte const* address) const;

  std::byte* allocate(std::int64_t size_bytes) override;
  void release(std::byte* memory) noexcept override;
  bool owns(std::byte const* address) const override { return arena().holds(address); }
  std::shared_ptr<tessera::Queue> make_sibling() override {
    return std::make_shared<Queue>(memory_, gpu_);
  }
  bool stores_to(tessera::Queue const& other) const override {
    return static_cast<Queue const&>(other).gpu_ == gpu_;
  }
  std::unique_ptr<DeviceBuffer> make_pinned(std::int64_t size_bytes) override;

  void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) override;
  void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                  StridedBlock const& from) override;
  void pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
            std::byte* to, std::int64_t size_bytes) override;
  void unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
              std::byte const* from, std::int64_t size_bytes) override;
  void fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes) override;
  void launch(KernelLaunch const& launch) override;

  std::unique_ptr<GpuEvent> make_event() override { return std::make_unique<Event>(); }
  void record(GpuEvent& event) override;
  void wait(GpuEvent const& event) override;
  bool is_idle() override;

  std::unique_ptr<GpuGraph> make_graph(std::function<void()> const& bring) override;
  void run(GpuGraph const& graph) override;

  int multiprocessors() const override { return 1; }
  GpuPeers& peers() override { return *peers_; }

 private:
  [[nodiscard]] Arena& arena() const { return memory_->arena(gpu_); }
  [[nodiscard]] bool is_on_gpu(std::byte const* address) const {
    return memory_->gpu_of(address).has_value();
  }
  void refuse_while_recording(std::string_view what) const {
    if (recorded_ != nullptr) refuse_in_graph(what);
  }
  void record_shared(Event& event);
  void wait_for_other(std::shared_ptr<SharedMark> const& shared);
  std::uint64_t post(std::function<void()> work) noexcept;
  void check();
  [[nodiscard]] bool has_to_work();
  void work();

  static constexpr std::size_t most_waiting = 4096;

  std::shared_ptr<Memory> memory_;
  std::size_t gpu_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();  // its mutex guards the rest
  std::deque<std::function<void()>> queue_;
  std::uint64_t count_ = 0;  // of all work so far
  std::unique_ptr<GpuPeers> peers_ =
      make_peers({memory_, gpu_, progress_, [this](auto next) { return post(std::move(next)); }});
  std::vector<std::function<void()>>* recorded_ = nullptr;  // while a graph is made: its work
  std::thread thread_;
};

/// The same queue by its own type. The queue must be emulated.
[[nodiscard]] inline Queue& queue_of(tessera::Queue& queue) {
  return static_cast<Queue&>(queue);
}

}  // namespace tessera::emulated
