#pragma once
/// @file
/// The progress thread, which runs while the program computes.

#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace tessera {

/// A background thread that takes no part in any step: it counts heartbeats, and answers other
/// processes while the threads of the program compute. It calls neither MPI nor UCX, and sleeps in
/// between.
class ProgressThread {
 public:
  static constexpr std::chrono::milliseconds interval{50};

  ProgressThread();
  ~ProgressThread();
  ProgressThread(ProgressThread const&) = delete;
  ProgressThread& operator=(ProgressThread const&) = delete;

  /// Before `start`.
  void at_each_heartbeat(std::function<void()> what) { heartbeats_.push_back(std::move(what)); }
  /// Call it before `start`. `what` reads all available data.
  void when_readable(int descriptor, std::function<void()> what);

  /// False if the system provides no thread.
  bool start();
  /// Stops the thread; no registered function is called afterwards.
  void stop();
  [[nodiscard]] bool is_running() const { return thread_.joinable(); }

 private:
  void run();

  std::vector<std::function<void()>> heartbeats_;
  std::vector<std::pair<int, std::function<void()>>> readers_;
  int stop_ = -1;  ///< an eventfd
  std::thread thread_;
};

}  // namespace tessera
