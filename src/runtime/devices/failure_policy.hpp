#pragma once
/// @file
/// Keeps the first failure of this process, and tells the others.

#include <exception>

#include "src/job/job.hpp"
#include "src/network/network.hpp"
#include "src/runtime/devices/device_pool.hpp"

namespace tessera {

class GpuRoutes;

/// After its first failure a process runs no more statements; each rethrows that failure.
///
/// Threads: the caller's.
class FailurePolicy {
 public:
  FailurePolicy(Job const& job, Network& network, DevicePool& devices, GpuRoutes& gpu_routes)
      : job_(job), network_(network), devices_(devices), gpu_routes_(gpu_routes) {}

  /// Runs `f`. An exception of it is a failure of this process. Throws: the first failure.
  template <class F>
  void guarded(F const& f) {
    try {
      network_.failure().throw_if_set();
      f();
    } catch (...) {
      give_up(std::current_exception());
      throw;
    }
  }
  /// Releases the other processes from waiting for this one. A job of one process goes on: what
  /// was thrown is the program's to handle.
  void give_up_in_job(std::exception_ptr const& error);

  /// Keeps a failure and tells the others once. Returns at once.
  void announce(std::exception_ptr const& error);
  /// After a failure: false if the workers are still busy after five seconds.
  [[nodiscard]] bool quiesce_workers();

 private:
  void give_up(std::exception_ptr const& error);

  Job const& job_;
  Network& network_;
  DevicePool& devices_;
  GpuRoutes& gpu_routes_;
  bool has_announced_ = false;
};

}  // namespace tessera
