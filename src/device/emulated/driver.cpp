#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/gpu.hpp"
#include "tessera/device/memory.hpp"

#include "memory.hpp"
#include "peers.hpp"
#include "progress.hpp"

namespace tessera {
namespace {

using emulated::Event;
using emulated::Memory;
using emulated::Progress;

class PinnedRegion : public GpuRegion {
 public:
  explicit PinnedRegion(std::int64_t size_bytes) : PinnedRegion(HostMemory(size_bytes)) {}

 private:
  explicit PinnedRegion(HostMemory memory)
      : GpuRegion(memory.data(), memory.size_bytes()), memory_(std::move(memory)) {}

  HostMemory memory_;
};

class EmulatedGraph : public GpuGraph {
 public:
  using Work = std::vector<std::function<void()>>;
  explicit EmulatedGraph(std::shared_ptr<Work const> work) : work_(std::move(work)) {}

  [[nodiscard]] std::shared_ptr<Work const> const& work() const { return work_; }

 private:
  std::shared_ptr<Work const> work_;  // of runs under way as well
};

class EmulatedStream : public GpuStream {
 public:
  EmulatedStream(std::shared_ptr<Memory> memory, std::size_t gpu)
      : memory_(std::move(memory)), gpu_(gpu), thread_([this] { work(); }) {}
  ~EmulatedStream() override {
    {
      std::lock_guard const guard(progress_->mutex);
      progress_->stopping = true;
    }
    progress_->changed.notify_all();
    thread_.join();
  }

  std::byte* allocate(std::int64_t size_bytes) override {
    refuse_while_keeping("new memory");
    check();
    if (auto* const memory = arena().allocate(size_bytes)) return memory;
    // What was released lies in the queue.
    progress_->wait_for(post([] {}));
    if (auto* const memory = arena().allocate(size_bytes)) return memory;
    throw DeviceError(text("a GPU cannot have ", size_bytes, " bytes (", bytes_text(size_bytes),
                           ") of memory more"));
  }
  void release(std::byte* memory) noexcept override {
    TESSERA_ASSERT(kept_ == nullptr, "memory goes while a graph is made");
    (void)post([this, memory] { arena().release(memory); });
  }
  bool owns(std::byte const* address) const override { return arena().holds(address); }
  std::shared_ptr<GpuStream> make_sibling() override {
    return std::make_shared<EmulatedStream>(memory_, gpu_);
  }
  bool stores_to(GpuStream const& other) const override {
    return static_cast<EmulatedStream const&>(other).gpu_ == gpu_;
  }
  std::unique_ptr<GpuRegion> make_pinned(std::int64_t size_bytes) override {
    refuse_while_keeping("new memory");
    return std::make_unique<PinnedRegion>(size_bytes);
  }
  void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) override {
    if (size_bytes == 0) return;
    if (!(is_on_gpu(to) && is_on_gpu(from))) refuse_while_keeping("memory of the host");
    defer([this, to, from, size_bytes] {
      std::memcpy(memory_->reach(to), memory_->reach(from), static_cast<std::size_t>(size_bytes));
    });
  }
  void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                  StridedBlock const& from) override {
    defer([=, this] { tessera::copy_block(reach(to_base), to, reach(from_base), from); });
  }
  void pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
            std::byte* to, std::int64_t size_bytes) override {
    defer([=, this] {
      (void)tessera::pack(reach(base), block, first_byte,
                          {reach(to), static_cast<std::size_t>(size_bytes)});
    });
  }
  void unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
              std::byte const* from, std::int64_t size_bytes) override {
    defer([=, this] {
      (void)tessera::unpack(reach(base), block, first_byte,
                            {reach(from), static_cast<std::size_t>(size_bytes)});
    });
  }
  void fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes) override {
    defer([=, this] {
      for (std::int64_t at = 0; at < size_bytes; at += 8)
        std::memcpy(reach(to) + at, &pattern, sizeof pattern);
    });
  }

  std::unique_ptr<GpuEvent> make_event() override { return std::make_unique<Event>(); }
  void record(GpuEvent& event) override {
    refuse_while_keeping("an event");
    check();
    auto& recorded = static_cast<Event&>(event);
    TESSERA_ASSERT(!recorded.opened, "an event of another process is recorded by that one");
    recorded.stream = progress_;
    if (recorded.shared != nullptr) {
      record_shared(recorded);
      return;
    }
    std::lock_guard const guard(progress_->mutex);
    recorded.number = count_;
  }
  void wait(GpuEvent const& event) override {
    refuse_while_keeping("an event");
    auto const& awaited = static_cast<Event const&>(event);
    if (awaited.opened) {
      wait_for_other(awaited.shared);
      return;
    }
    if (awaited.stream == nullptr || awaited.stream == progress_) return;
    defer([stream = awaited.stream, number = awaited.number] { stream->wait_for(number); });
  }
  bool is_idle() override {
    refuse_while_keeping("a question");
    check();
    std::uint64_t all = 0;
    {
      std::lock_guard const guard(progress_->mutex);
      all = count_;
    }
    return progress_->has_done(all);
  }

  std::unique_ptr<GpuGraph> make_graph(std::function<void()> const& bring) override {
    refuse_while_keeping("a graph");
    check();
    auto work = std::make_shared<EmulatedGraph::Work>();
    struct End {
      EmulatedGraph::Work*& kept;
      ~End() { kept = nullptr; }
    } const end{kept_};
    kept_ = work.get();
    bring();
    return std::make_unique<EmulatedGraph>(std::move(work));
  }
  void run(GpuGraph const& graph) override {
    refuse_while_keeping("a run of one");
    defer([work = static_cast<EmulatedGraph const&>(graph).work()] {
      for (auto const& each : *work) each();
    });
  }

  void* native() const override { return nullptr; }
  void check_launch(int error, std::string_view what) const override {
    TESSERA_ASSERT(error == 0, what, " on an emulated GPU");
  }
  int multiprocessors() const override { return 1; }
  GpuPeers& peers() override { return *peers_; }

  void defer(std::function<void()> work) override {
    check();
    if (kept_ != nullptr)
      kept_->push_back(std::move(work));
    else
      (void)post(std::move(work));
  }
  std::byte* reach(std::byte const* address) const override {
    TESSERA_ASSERT(memory_->gpu_of(address) == gpu_, "an address that is none of the GPU");
    return memory_->reach(address);
  }

 private:
  [[nodiscard]] emulated::Arena& arena() const { return memory_->arena(gpu_); }

  // The other process may ask for the work from now on.
  void record_shared(Event& event) {
    auto& mark = event.shared->mark();
    auto const number = mark.recorded.load(std::memory_order_relaxed) + 1;
    event.number = post([shared = event.shared, number] {
      shared->mark().passed.store(number, std::memory_order_release);
    });
    {
      std::lock_guard const guard(progress_->mutex);
      progress_->recordings.push_back({event.shared, number, event.number});
    }
    mark.recorded.store(number, std::memory_order_release);
    progress_->changed.notify_all();
  }

  void wait_for_other(std::shared_ptr<emulated::SharedMark> const& shared) {
    auto const number = shared->mark().recorded.load(std::memory_order_acquire);
    defer([shared, number, progress = progress_] {
      auto& mark = shared->mark();
      mark.asked.store(number, std::memory_order_release);
      while (mark.passed.load(std::memory_order_acquire) < number) {
        if (progress->is_stopping()) throw DeviceError("a wait for another process was abandoned");
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
  }

  void refuse_while_keeping(std::string_view what) const {
    if (kept_ != nullptr) refuse_in_graph(what);
  }
  [[nodiscard]] bool is_on_gpu(std::byte const* address) const {
    return memory_->gpu_of(address).has_value();
  }

  // The number of all work so far.
  std::uint64_t post(std::function<void()> work) noexcept {
    std::lock_guard const guard(progress_->mutex);
    queue_.push_back(std::move(work));
    ++count_;
    // So much is begun by itself, as on a GPU.
    if (queue_.size() > most_waiting) progress_->asked = std::max(progress_->asked, count_ - 1);
    if (progress_->asked >= count_ || queue_.size() > most_waiting) progress_->changed.notify_all();
    return count_;
  }

  // Earlier work that failed.
  void check() {
    std::lock_guard const guard(progress_->mutex);
    if (progress_->failure != nullptr) std::rethrow_exception(progress_->failure);
  }

  // With the mutex.
  bool has_to_work() {
    progress_->hear_others();
    return progress_->stopping || (!queue_.empty() && progress_->asked > progress_->done);
  }

  void work() {
    std::unique_lock guard(progress_->mutex);
    for (;;) {
      while (!has_to_work()) {
        // Other processes cannot wake this thread.
        if (progress_->recordings.empty())
          progress_->changed.wait(guard);
        else
          progress_->changed.wait_for(guard, std::chrono::microseconds(200));
      }
      if (queue_.empty()) return;
      auto next = std::move(queue_.front());
      queue_.pop_front();
      guard.unlock();
      std::exception_ptr failure;
      try {
        next();
      } catch (...) {
        failure = std::current_exception();
      }
      next = nullptr;
      guard.lock();
      if (progress_->failure == nullptr) progress_->failure = failure;
      ++progress_->done;
      progress_->changed.notify_all();
    }
  }

  std::shared_ptr<Memory> memory_;
  std::size_t gpu_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();  // its mutex guards the rest
  static constexpr std::size_t most_waiting = 4096;
  std::deque<std::function<void()>> queue_;
  std::uint64_t count_ = 0;  // of all work so far
  std::unique_ptr<GpuPeers> peers_ =
      emulated::make_peers({memory_, gpu_, progress_,
                            [this](std::function<void()> next) { return post(std::move(next)); }});
  EmulatedGraph::Work* kept_ = nullptr;  // while a graph is made: what it is to do
  std::thread thread_;
};

class EmulatedDriver : public GpuDriver {
 public:
  std::string_view name() const override { return "emulated"; }
  int count() const override { return static_cast<int>(Memory::gpu_count); }
  GpuFacts facts(int) const override { return {"emulated GPU", "", 0, 1}; }
  std::shared_ptr<GpuStream> make_stream(int gpu) override {
    return std::make_shared<EmulatedStream>(memory_, static_cast<std::size_t>(gpu));
  }

 private:
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
};

}  // namespace

std::unique_ptr<GpuDriver> make_emulated_driver() {
  return std::make_unique<EmulatedDriver>();
}

}  // namespace tessera
