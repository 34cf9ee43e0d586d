#pragma once
/// @file
/// Finds by trial which of two forms of the same work is faster.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

namespace tessera {

/// The first run does not count, since it touches memory for the first time. Then both forms run in
/// turn, and the form with the shortest run is kept; of equal ones the first form.
///
/// Threads: the device's thread. Any thread may ask for the outcome.
class Trial {
 public:
  using Duration = std::chrono::nanoseconds;
  enum class Outcome : unsigned char { open, first, second };

  explicit Trial(int runs_of_each = 4) : runs_of_each_(runs_of_each) {}

  /// True if the next run has to use the second form.
  [[nodiscard]] bool takes_second() const {
    return is_over() ? outcome() == Outcome::second : runs_ % 2 == 1;
  }
  [[nodiscard]] bool is_over() const { return outcome() != Outcome::open; }
  [[nodiscard]] Outcome outcome() const { return outcome_.load(std::memory_order_relaxed); }
  /// Notes how long the run took that `takes_second` chose; ignored once the trial is over.
  void add(Duration took) {
    if (is_over()) return;
    auto& shortest = shortest_[takes_second() ? 1 : 0];
    if (runs_ > 0) shortest = std::min(shortest, took);
    if (++runs_ <= 2 * runs_of_each_) return;
    bool const is_faster = shortest_[1] < shortest_[0];
    outcome_.store(is_faster ? Outcome::second : Outcome::first, std::memory_order_relaxed);
  }

 private:
  int runs_of_each_;
  int runs_ = 0;
  std::array<Duration, 2> shortest_{Duration::max(), Duration::max()};  ///< of each form
  std::atomic<Outcome> outcome_ = Outcome::open;
};

}  // namespace tessera
