#pragma once
/// @file
/// A watch over calls of MPI that block, for which MPI has no other form.

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "src/job/start_watch.hpp"

namespace tessera::mpi {

/// While it exists, a thread that calls no MPI looks whether the other processes are there. If one
/// has failed, this process ends with an error line: nothing can be thrown into the call.
class BlockingWatch {
 public:
  /// Without a thread, nothing is watched: if none is allowed, or the system provides none.
  BlockingWatch(StartWatch& watch, bool allows_threads);

 private:
  void look_until(std::stop_token const& stop);

  StartWatch& watch_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  ///< ends first
};

}  // namespace tessera::mpi
