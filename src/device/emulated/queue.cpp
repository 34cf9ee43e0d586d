#include "src/device/emulated/queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/float_state.hpp"
#include "src/base/text.hpp"
#include "src/device/emulated/graph.hpp"
#include "src/device/emulated/launch.hpp"
#include "src/device/host/memory.hpp"

namespace tessera::emulated {
// Kernels of the host compute: what a compiler for GPUs makes of them is not looked at.
Queue::Queue(std::shared_ptr<Memory> memory, std::size_t gpu)
    : tessera::Queue(
          {.name = "emulated gpu", .how_to_have_memory = "allocate it by a queue of that GPU"}),
      memory_(std::move(memory)),
      gpu_(gpu),
      thread_([this] { work(); }) {}

Queue::~Queue() {
  {
    std::lock_guard const guard(progress_->mutex);
    progress_->stopping = true;
  }
  progress_->changed.notify_all();
  thread_.join();
}

void Queue::defer(std::function<void()> work) {
  check();
  if (recorded_ != nullptr)
    recorded_->push_back(std::move(work));
  else
    (void)post(std::move(work));
}

std::byte* Queue::reach(std::byte const* address) const {
  TESSERA_ASSERT(memory_->gpu_of(address) == gpu_, "an address that is none of the GPU");
  return memory_->reach(address);
}

std::byte* Queue::allocate(std::int64_t size_bytes) {
  refuse_while_recording("new memory");
  check();
  if (auto* const memory = arena().allocate(size_bytes)) return memory;
  // Released memory is still in the queue.
  progress_->wait_for(post([] {}));
  if (auto* const memory = arena().allocate(size_bytes)) return memory;
  throw DeviceError(text("a GPU cannot have ", size_bytes, " bytes (", bytes_text(size_bytes),
                         ") of memory more"));
}

void Queue::release(std::byte* memory) noexcept {
  TESSERA_ASSERT(recorded_ == nullptr, "memory goes while a graph is made");
  (void)post([this, memory] { arena().release(memory); });
}

std::unique_ptr<DeviceBuffer> Queue::make_pinned(std::int64_t size_bytes) {
  refuse_while_recording("new memory");
  return host::make_buffer(size_bytes);
}

void Queue::copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) {
  if (size_bytes == 0) return;
  if (!(is_on_gpu(to) && is_on_gpu(from))) refuse_while_recording("memory of the host");
  defer([this, to, from, size_bytes] {
    std::memcpy(memory_->reach(to), memory_->reach(from), static_cast<std::size_t>(size_bytes));
  });
}

void Queue::copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                       StridedBlock const& from) {
  defer([=, this] { tessera::copy_block(reach(to_base), to, reach(from_base), from); });
}

void Queue::pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
                 std::byte* to, std::int64_t size_bytes) {
  defer([=, this] {
    (void)tessera::pack(reach(base), block, first_byte,
                        {reach(to), static_cast<std::size_t>(size_bytes)});
  });
}

void Queue::unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                   std::byte const* from, std::int64_t size_bytes) {
  defer([=, this] {
    (void)tessera::unpack(reach(base), block, first_byte,
                          {reach(from), static_cast<std::size_t>(size_bytes)});
  });
}

void Queue::fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes) {
  defer([=, this] {
    for (std::int64_t at = 0; at < size_bytes; at += 8)
      std::memcpy(reach(to) + at, &pattern, sizeof pattern);
  });
}

void Queue::launch(KernelLaunch const& launch) {
  emulated::launch(*this, launch);
}

void Queue::record(GpuEvent& event) {
  refuse_while_recording("an event");
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

// From now on the other process may wait for this work.
void Queue::record_shared(Event& event) {
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

void Queue::wait(GpuEvent const& event) {
  refuse_while_recording("an event");
  auto const& awaited = static_cast<Event const&>(event);
  if (awaited.opened) {
    wait_for_other(awaited.shared);
    return;
  }
  if (awaited.stream == nullptr || awaited.stream == progress_) return;
  defer([stream = awaited.stream, number = awaited.number] { stream->wait_for(number); });
}

void Queue::wait_for_other(std::shared_ptr<SharedMark> const& shared) {
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

bool Queue::is_idle() {
  refuse_while_recording("a question");
  check();
  std::uint64_t all = 0;
  {
    std::lock_guard const guard(progress_->mutex);
    all = count_;
  }
  return progress_->has_done(all);
}

std::unique_ptr<GpuGraph> Queue::make_graph(std::function<void()> const& bring) {
  refuse_while_recording("a graph");
  check();
  auto work = std::make_shared<Graph::Work>();
  struct End {
    Graph::Work*& recorded;
    ~End() { recorded = nullptr; }
  } const end{recorded_};
  recorded_ = work.get();
  bring();
  return std::make_unique<Graph>(std::move(work));
}

void Queue::run(GpuGraph const& graph) {
  refuse_while_recording("a run of one");
  defer([work = static_cast<Graph const&>(graph).work()] {
    for (auto const& each : *work) each();
  });
}

// The number of all work so far.
std::uint64_t Queue::post(std::function<void()> work) noexcept {
  std::lock_guard const guard(progress_->mutex);
  queue_.push_back(std::move(work));
  ++count_;
  // A queue this long begins its work by itself, as a GPU does.
  if (queue_.size() > most_waiting) progress_->asked = std::max(progress_->asked, count_ - 1);
  if (progress_->asked >= count_ || queue_.size() > most_waiting) progress_->changed.notify_all();
  return count_;
}

// Throws the failure of earlier work.
void Queue::check() {
  std::lock_guard const guard(progress_->mutex);
  if (progress_->failure != nullptr) std::rethrow_exception(progress_->failure);
}

// With the mutex.
bool Queue::has_to_work() {
  progress_->hear_others();
  return progress_->stopping || (!queue_.empty() && progress_->asked > progress_->done);
}

void Queue::work() {
  (void)FloatState::set_default();  // a new thread has the state of the one that made it
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

}  // namespace tessera::emulated
