#pragma once
/// @file
/// The first failure of a process, kept until a thread can throw it.

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace tessera {

/// Set once by the first thread that fails; thrown again by every later wait and statement.
///
/// Threads: any. A check costs one load and takes no lock.
class Failure {
 public:
  [[nodiscard]] bool is_set() const { return set_.load(std::memory_order_acquire); }

  /// Keeps `error` if it is the first.
  void set(std::exception_ptr error) {
    std::lock_guard const guard(mutex_);
    if (error_ != nullptr) return;
    error_ = std::move(error);
    set_.store(true, std::memory_order_release);
  }

  void throw_if_set() const {
    if (is_set()) std::rethrow_exception(error_);
  }
  /// The first error; null if there is none.
  [[nodiscard]] std::exception_ptr error() const { return is_set() ? error_ : nullptr; }

 private:
  std::atomic<bool> set_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace tessera
