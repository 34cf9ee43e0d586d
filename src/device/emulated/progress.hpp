#pragma once
/// @file
/// How far the work of emulated queues is.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "src/device/emulated/shared_bytes.hpp"
#include "src/device/queue.hpp"

namespace tessera::emulated {

/// The shared state of an event between two processes.
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

/// The work of one stream. It is deferred until a caller asks whether it is done, so that a missing
/// wait shows.
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
  std::uint64_t asked = 0;           ///< work before this number is awaited
  bool stopping = false;             ///< shutting down
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

  /// Also requests the work that other processes wait for. Call with the mutex held.
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

}  // namespace tessera::emulated
