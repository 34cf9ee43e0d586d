#pragma once
/// @file
/// How a thread that polls gives its core to others.

#include <algorithm>
#include <chrono>

#include <sched.h>

namespace tessera {

/// Decides between two ways to give the core away: yielding, and sleeping a little.
///
/// A yield returns at once if nobody else wants the core, so the thread that yields sees the
/// awaited event within a microsecond. If another thread computes on the core, the yield returns
/// after that thread's time slice, some milliseconds, and a thread that sleeps is woken much
/// earlier: the kernel prefers those that used little of their share. So after a long yield the
/// thread sleeps some times before it tries again, and twice as many times after the next long
/// yield. Some yields of a busy core are short too, so only many short ones in a row say that the
/// core is free.
class YieldRule {
 public:
  using Duration = std::chrono::nanoseconds;
  /// Longer than the switches to and from a few threads that only poll.
  static constexpr Duration long_yield = std::chrono::milliseconds(1);
  static constexpr int first_sleeps = 8;
  static constexpr int most_sleeps = 1024;
  static constexpr int yields_of_free_core = 256;

  /// Whether to yield now, rather than to sleep.
  [[nodiscard]] bool may_yield() {
    if (sleeps_left_ == 0) return true;
    --sleeps_left_;
    return false;
  }
  /// Learns how long a yield took.
  void yielded(Duration took) {
    if (took < long_yield) {
      short_yields_ = std::min(short_yields_ + 1, yields_of_free_core);
      if (short_yields_ == yields_of_free_core) next_sleeps_ = first_sleeps;
      return;
    }
    short_yields_ = 0;
    sleeps_left_ = next_sleeps_;
    next_sleeps_ = std::min(2 * next_sleeps_, most_sleeps);
  }

 private:
  int sleeps_left_ = 0;
  int next_sleeps_ = first_sleeps;
  int short_yields_ = 0;  ///< in a row
};

/// Gives the core away by that rule.
/// Threads: one per object.
class Yielder {
 public:
  using Clock = std::chrono::steady_clock;

  /// Yields and returns true, or returns false at once where a sleep is better.
  [[nodiscard]] bool yield() {
    if (!rule_.may_yield()) return false;
    auto const before = Clock::now();
    ::sched_yield();
    took_ = Clock::now() - before;
    rule_.yielded(took_);
    return true;
  }
  /// Yields or sleeps. Returns true if that took long, so that other work is small beside it.
  bool yield_or_sleep();

 private:
  YieldRule rule_;
  YieldRule::Duration took_{};  ///< the last yield
};

}  // namespace tessera
