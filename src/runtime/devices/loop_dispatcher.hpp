#pragma once
/// @file
/// Gives blocks of a recorded loop to the local devices.

#include <functional>
#include <vector>

#include "src/execution/connection/connect.hpp"
#include "src/execution/loop.hpp"
#include "src/execution/reduction_tree.hpp"
#include "src/execution/run_loop.hpp"
#include "src/runtime/devices/device_pool.hpp"
#include "src/runtime/devices/dispatcher.hpp"
#include "src/runtime/profiler/profiler.hpp"
#include "src/runtime/statements/statement_log.hpp"

namespace tessera {

/// Ranks:   collective over the job, as statements.
/// Threads: the caller's.
class LoopDispatcher {
 public:
  /// The parts that it uses. Lifetime: longer than this.
  struct Tools {
    StatementLog& log;
    DevicePool& devices;
    ReductionTrees& trees;
    Dispatcher& dispatcher;
    Profiler& profiler;
    MessageTools messages;
  };
  explicit LoopDispatcher(Tools const& tools) : tools_(tools) {}

  /// A run as the workers see it: it stays until no worker is busy, also after a failure.
  struct Work {
    std::vector<LoopArguments> arguments;  ///< by local index
    std::function<void(DeviceTask&)> call;
  };

  /// Opens the channels of a loop. Throws: PeerFailed, Mismatch, DeviceError.
  void open_channels(Loop& loop);
  /// Runs blocks of a loop's steps, and waits for their end. Throws: PeerFailed, Mismatch.
  void run(LoopRun const& run, Work& work);

 private:
  Tools tools_;
};

}  // namespace tessera
