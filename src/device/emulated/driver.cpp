#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "tessera/base/assert.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/gpu.hpp"
#include "tessera/device/memory.hpp"

namespace tessera {
namespace {

constexpr std::int64_t alignment = 256;
constexpr std::int64_t page = 4096;

// The memory of one GPU, in two ranges of addresses: what programs are told, where nothing can be
// read, and what the streams' threads reach.
class Arena {
 public:
  Arena() : told_(reserve()), reached_(reserve()) {}
  ~Arena() {
    ::munmap(told_, static_cast<std::size_t>(size));
    ::munmap(reached_, static_cast<std::size_t>(size));
  }
  Arena(Arena const&) = delete;
  Arena& operator=(Arena const&) = delete;

  // Null if there is not so much.
  [[nodiscard]] std::byte* allocate(std::int64_t bytes) {
    if (bytes < 0 || bytes > size) return nullptr;
    // A gap between blocks, so that their neighbours are not theirs either.
    auto const length = (bytes + alignment - 1) / alignment * alignment + alignment;
    std::lock_guard const guard(mutex_);
    auto free = std::find_if(free_.begin(), free_.end(),
                             [&](auto const& block) { return block.second >= length; });
    if (free == free_.end() && size - used_ < length) return nullptr;
    std::int64_t at = used_;
    if (free == free_.end()) {
      used_ += length;
      make_reachable(used_);
    } else {
      at = free->first;
      if (free->second > length) free_[at + length] = free->second - length;
      free_.erase(at);
    }
    lengths_[at] = length;
    return told_ + at;
  }

  void release(std::byte const* memory) {
    std::lock_guard const guard(mutex_);
    auto const block = lengths_.extract(memory - told_);
    TESSERA_ASSERT(!block.empty(), "memory that the GPU did not give");
    auto [at, length] = std::pair(block.key(), block.mapped());
    auto const next = free_.lower_bound(at);
    if (next != free_.end() && next->first == at + length) {
      length += next->second;
      free_.erase(next);
    }
    auto const before = free_.lower_bound(at);
    if (before != free_.begin() && std::prev(before)->first + std::prev(before)->second == at)
      std::prev(before)->second += length;
    else
      free_[at] = length;
  }

  [[nodiscard]] bool holds(std::byte const* address) const {
    return address >= told_ && address < told_ + size;
  }
  [[nodiscard]] std::byte* reach(std::byte const* address) const {
    TESSERA_ASSERT(holds(address), "an address that is none of the GPU");
    return reached_ + (address - told_);
  }

 private:
  static constexpr std::int64_t size = std::int64_t{32} << 30;

  static std::byte* reserve() {
    void* const range = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) throw DeviceError("no addresses for the memory of an emulated GPU");
    return static_cast<std::byte*>(range);
  }

  void make_reachable(std::int64_t bytes) {
    constexpr std::int64_t step = 1024 * page;
    auto const wanted = (bytes + step - 1) / step * step;
    if (wanted <= reachable_) return;
    if (::mprotect(reached_ + reachable_, static_cast<std::size_t>(wanted - reachable_),
                   PROT_READ | PROT_WRITE) != 0)
      throw DeviceError("no memory for an emulated GPU");
    reachable_ = wanted;
  }

  std::byte* told_;
  std::byte* reached_;
  std::mutex mutex_;
  std::int64_t used_ = 0;
  std::int64_t reachable_ = 0;
  std::map<std::int64_t, std::int64_t> free_;     // length by start
  std::map<std::int64_t, std::int64_t> lengths_;  // of what is given
};

using Arenas = std::array<Arena, 2>;

// The work of one stream. It is put off until somebody asks whether it is done, so that whoever
// forgets to ask finds nothing of it.
struct Progress {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t done = 0;
  std::uint64_t asked = 0;  // work before this number is wanted
  std::exception_ptr failure;

  [[nodiscard]] bool has_done(std::uint64_t number) {
    std::lock_guard const guard(mutex);
    if (failure != nullptr) std::rethrow_exception(failure);
    return want(number);
  }
  void wait_for(std::uint64_t number) {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return want(number); });
  }

 private:
  bool want(std::uint64_t number) {
    if (asked < number) {
      asked = number;
      changed.notify_all();
    }
    return done >= number;
  }
};

class EmulatedEvent : public GpuEvent {
 public:
  bool has_passed() override { return stream == nullptr || stream->has_done(number); }

  std::shared_ptr<Progress> stream;  // none before it is first recorded
  std::uint64_t number = 0;
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
  EmulatedStream(std::shared_ptr<Arenas> arenas, std::size_t gpu)
      : arenas_(std::move(arenas)), gpu_(gpu), thread_([this] { work(); }) {}
  ~EmulatedStream() override {
    {
      std::lock_guard const guard(progress_->mutex);
      stopping_ = true;
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
  bool stores_to(GpuStream const& other) const override {
    return static_cast<EmulatedStream const&>(other).gpu_ == gpu_;
  }
  void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) override {
    if (!(is_on_gpu(to) && is_on_gpu(from))) refuse_while_keeping("memory of the host");
    defer([this, to, from, size_bytes] {
      std::memcpy(anywhere(to), anywhere(from), static_cast<std::size_t>(size_bytes));
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

  std::unique_ptr<GpuEvent> make_event() override { return std::make_unique<EmulatedEvent>(); }
  void record(GpuEvent& event) override {
    refuse_while_keeping("an event");
    check();
    auto& recorded = static_cast<EmulatedEvent&>(event);
    recorded.stream = progress_;
    std::lock_guard const guard(progress_->mutex);
    recorded.number = count_;
  }
  void wait(GpuEvent const& event) override {
    refuse_while_keeping("an event");
    auto const& awaited = static_cast<EmulatedEvent const&>(event);
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

  void defer(std::function<void()> work) override {
    check();
    if (kept_ != nullptr)
      kept_->push_back(std::move(work));
    else
      (void)post(std::move(work));
  }
  std::byte* reach(std::byte const* address) const override { return arena().reach(address); }

 private:
  void refuse_while_keeping(std::string_view what) const {
    if (kept_ != nullptr) refuse_in_graph(what);
  }
  [[nodiscard]] bool is_on_gpu(std::byte const* address) const {
    return std::any_of(arenas_->begin(), arenas_->end(),
                       [&](auto const& arena) { return arena.holds(address); });
  }
  // Where the host reaches memory that may be its own.
  std::byte* anywhere(std::byte const* address) const {
    for (auto const& arena : *arenas_)
      if (arena.holds(address)) return arena.reach(address);
    return const_cast<std::byte*>(address);
  }
  [[nodiscard]] Arena& arena() const { return (*arenas_)[gpu_]; }

  // The number of all work so far.
  std::uint64_t post(std::function<void()> work) noexcept {
    std::lock_guard const guard(progress_->mutex);
    queue_.push_back(std::move(work));
    ++count_;
    if (progress_->asked >= count_) progress_->changed.notify_all();
    return count_;
  }

  // Earlier work that failed.
  void check() {
    std::lock_guard const guard(progress_->mutex);
    if (progress_->failure != nullptr) std::rethrow_exception(progress_->failure);
  }

  void work() {
    std::unique_lock guard(progress_->mutex);
    for (;;) {
      progress_->changed.wait(guard, [&] {
        return stopping_ || (!queue_.empty() && progress_->asked > progress_->done);
      });
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

  std::shared_ptr<Arenas> arenas_;
  std::size_t gpu_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();  // its mutex guards the rest
  std::deque<std::function<void()>> queue_;
  std::uint64_t count_ = 0;  // of all work so far
  bool stopping_ = false;
  EmulatedGraph::Work* kept_ = nullptr;  // while a graph is made: what it is to do
  std::thread thread_;
};

class EmulatedDriver : public GpuDriver {
 public:
  std::string_view name() const override { return "emulated"; }
  int count() const override { return static_cast<int>(arenas_->size()); }
  GpuFacts facts(int) const override { return {"emulated GPU", "", 0, 1}; }
  std::shared_ptr<GpuStream> make_stream(int gpu) override {
    return std::make_shared<EmulatedStream>(arenas_, static_cast<std::size_t>(gpu));
  }

 private:
  std::shared_ptr<Arenas> arenas_ = std::make_shared<Arenas>();
};

}  // namespace

std::unique_ptr<GpuDriver> make_emulated_driver() {
  return std::make_unique<EmulatedDriver>();
}

}  // namespace tessera
