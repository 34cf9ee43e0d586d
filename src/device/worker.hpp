#pragma once
/// @file
/// The thread of one host device, fed in order by one other thread.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

#include "tessera/detail/base/assert.hpp"

#include "src/base/yielder.hpp"

namespace tessera {

/// One piece of work: `run(record)`. The record stays valid until the task is done.
struct WorkItem {
  void (*run)(void* record);
  void* record;
};

/// One device's thread: runs posted tasks one after the other, in order.
///
/// The ring holds `capacity` tasks. A poster keeps its records in as many slots of its own, number
/// posted() % capacity: that slot is free whenever has_room(). Posting and running take no lock and
/// allocate nothing. An idle worker polls about a hundred times, yields some hundred times, then
/// sleeps; at once where other threads keep the core.
///
/// After a task throws, `on_failure` is called once, on the worker's thread, and later tasks are
/// skipped but counted as done, until clear_failure().
///
/// Threads: only the posting thread calls `post`, `posted`, `has_room` and `clear_failure`; any
///          thread may call the rest.
class Worker {
 public:
  static constexpr std::uint64_t capacity = 64;

  /// Starts the thread, named "tessera-<number>". `on_failure` must not throw.
  /// Throws: DeviceError if the system gives no thread.
  explicit Worker(std::function<void(std::exception_ptr)> on_failure, std::int64_t number = 0);
  /// Finishes what is queued and joins.
  ~Worker();
  Worker(Worker const&) = delete;
  Worker& operator=(Worker const&) = delete;

  /// Tasks posted so far.
  [[nodiscard]] std::uint64_t posted() const { return posted_.load(std::memory_order_relaxed); }
  /// Tasks finished or skipped so far; a reader of this number also sees everything that they
  /// wrote.
  [[nodiscard]] std::uint64_t done() const { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_room() const {
    // Looks at the worker's line only when the ring seems full.
    if (posted() - known_done_ < capacity) return true;
    known_done_ = done();
    return posted() - known_done_ < capacity;
  }
  [[nodiscard]] bool idle() const { return done() == posted(); }

  /// Queues a task; there must be room.
  /// Cost: a few nanoseconds if the worker is awake, else a system call that wakes it.
  void post(WorkItem item) {
    TESSERA_ASSERT(has_room(), posted(), " posted, ", done(), " done");
    auto const number = posted();
    auto& slot = slots_[number % capacity];
    slot.item = item;
    slot.count.store(number + 1, std::memory_order_release);
    posted_.store(number + 1, std::memory_order_relaxed);
    if (seems_asleep()) wake();
  }

  /// The task after the one that runs, if it is posted already; else null. For that task, so on the
  /// worker's thread only.
  [[nodiscard]] WorkItem const* upcoming() const {
    return has(running_ + 1) ? &slots_[(running_ + 1) % capacity].item : nullptr;
  }

  /// Whether a task has thrown and later ones are being skipped.
  [[nodiscard]] bool has_failed() const { return failed_.load(std::memory_order_acquire); }
  /// Runs tasks again. Must be idle.
  void clear_failure();

 private:
  static constexpr std::size_t cache_line = 64;

  /// A task and its number, counted from 1, in a line of its own: posting touches no other line
  /// that the worker reads.
  struct alignas(cache_line) Slot {
    std::atomic<std::uint64_t> count{0};
    WorkItem item{};
  };

  void work();
  void run(WorkItem item) noexcept;
  /// Waits for task number `next`; false at the end.
  bool wait_for(std::uint64_t next);
  void sleep_until(std::uint64_t next);
  void wake();
  [[nodiscard]] bool has(std::uint64_t next) const {
    return slots_[next % capacity].count.load(std::memory_order_acquire) == next + 1;
  }

  /// Whether the worker sleeps or is about to sleep, read after the new task became visible.
  /// Enforcing that order costs the poster as much as a cache miss. If the system lets the worker
  /// enforce it when it falls asleep, the poster only needs to prevent the compiler from
  /// reordering.
  [[nodiscard]] bool seems_asleep() {
    if (!sleeper_makes_order_) return asleep_.fetch_add(0, std::memory_order_seq_cst) != 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return asleep_.load(std::memory_order_relaxed) != 0;
  }

  // The poster's line, the worker's line, and one that is rarely written.
  alignas(cache_line) std::atomic<std::uint64_t> posted_{0};
  mutable std::uint64_t known_done_ = 0;
  alignas(cache_line) std::atomic<std::uint64_t> done_{0};
  std::uint64_t running_ = 0;  ///< the number of the task that runs, counted from 0
  alignas(cache_line) std::atomic<int> asleep_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> failed_{false};
  bool const sleeper_makes_order_;
  Yielder yielder_;  ///< of the worker's thread
  std::function<void(std::exception_ptr)> on_failure_;
  std::array<Slot, capacity> slots_;
  std::thread thread_;
};

}  // namespace tessera
