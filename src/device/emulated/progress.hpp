#pragma once
/// @file
/// How far the work of emulated streams is, and events.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "tessera/device/gpu.hpp"

#include "shared_bytes.hpp"

namespace tessera::emulated {

/// What two processes know of an event that they share.
struct Mark {
  std::atomic<std::uint64_t> recorded{0};  ///< how often
  std::atomic<std::uint64_t> passed{0};    ///< the last recording that the work has come to
  std::atomic<std::uint64_t> asked{0};     ///< the last one that the other process waits for
};

/// An event that two processes share.
struct SharedMark {
  SharedBytes bytes;

  [[nodiscard]] Mark& mark() const { return *reinterpret_cast<Mark*>(bytes.data()); }
};

/// The work of one stream. It is put off until somebody asks whether it is done, so that whoever
/// forgets to ask finds nothing of it.
struct Progress {
  /// A recording of a shared event, and the number of the work that stands before it.
  struct Recording {
    std::shared_ptr<SharedMark> shared;
    std::uint64_t number = 0;
    std::uint64_t position = 0;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t done = 0;
  std::uint64_t asked = 0;           ///< work before this number is wanted
  bool stopping = false;             ///< nothing waits any more
  std::deque<Recording> recordings;  ///< that are not done
  std::exception_ptr failure;

  /// Throws: the failure of earlier work.
  [[nodiscard]] bool has_done(std::uint64_t number) {
    std::lock_guard const guard(mutex);
    if (failure != nullptr) std::rethrow_exception(failure);
    return want(number);
  }
  void wait_for(std::uint64_t number) {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return want(number); });
  }
  void ask(std::uint64_t number) {
    std::lock_guard const guard(mutex);
    (void)want(number);
  }
  [[nodiscard]] bool is_stopping() {
    std::lock_guard const guard(mutex);
    return stopping;
  }

  /// What other processes wait for is asked for too. With the mutex.
  void hear_others() {
    while (!recordings.empty() && recordings.front().position <= done) recordings.pop_front();
    for (auto const& recording : recordings)
      if (recording.shared->mark().asked.load(std::memory_order_acquire) >= recording.number)
        asked = std::max(asked, recording.position);
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

/// An event of this process, or one that another process opened or has open.
class Event : public GpuEvent {
 public:
  Event() = default;
  explicit Event(std::shared_ptr<SharedMark> mark, bool is_opened)
      : shared(std::move(mark)), opened(is_opened) {}

  bool has_passed() override {
    if (opened) {
      auto& mark = shared->mark();
      auto const last = mark.recorded.load(std::memory_order_acquire);
      mark.asked.store(last, std::memory_order_release);
      return mark.passed.load(std::memory_order_acquire) >= last;
    }
    return stream == nullptr || stream->has_done(number);
  }

  std::shared_ptr<Progress> stream;  ///< none before it is first recorded, or of another process
  std::uint64_t number = 0;
  std::shared_ptr<SharedMark> shared;  ///< where another process knows of it
  bool opened = false;                 ///< recorded by the other process
};

}  // namespace tessera::emulated
