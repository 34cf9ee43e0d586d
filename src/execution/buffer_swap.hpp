#pragma once
/// @file
/// Which buffers a statement writes.

#include <memory>
#include <vector>

#include "src/execution/device_task.hpp"
#include "src/execution/storage/array_state.hpp"

namespace tessera {

/// Fills in the target buffers of a task: swaps buffers if its plan says so, and tracks the cells
/// in which the two buffers of a shard differ.
/// Threads: the caller's.
class Targets {
 public:
  /// The writes of the task's plan; none without a target.
  void name(DeviceTask& task, std::shared_ptr<ArrayModel> const& target, DeviceId device);

 private:
  void swap_buffers(DeviceTask& task, Shard& shard, ArrayState const& array, BoxWrite const& write);
  void carry_over(DeviceTask& task, Shard& shard, std::int64_t element_bytes,
                  BoxWrite const& write);

  std::vector<Box> rest_;  ///< of carry_over, kept so that a step allocates nothing
};

}  // namespace tessera
