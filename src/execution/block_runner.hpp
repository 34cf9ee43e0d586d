#pragma once
/// @file
/// Runs the tasks of a loop's blocks on one device.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/device/host_memory.hpp"
#include "src/device/kernel_launch.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/loop.hpp"
#include "src/execution/run_loop.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// Runs the tasks of a pass, tile by tile. All arguments of kernel calls are prepared here, so that
/// a task costs little more than its cells.
///
/// Threads: the device's.
class BlockRunner {
 public:
  /// Lifetime: both outlive this, but for the task's members that change from run to run.
  BlockRunner(DeviceTask const& task, LoopArguments const& arguments);

  /// Starts a block. `buffers`: 2 · array + BlockBuffer::which. `scalars`: by their roles.
  void begin(std::vector<std::byte*> const& buffers, std::vector<std::byte*> const& scalars,
             std::int64_t first_step);
  /// Runs one of the block's passes.
  void run(LoopPass const& pass);

  /// What the device has added up for a reduction in this block.
  [[nodiscard]] std::byte* accumulator(std::size_t reduction);
  /// Per kernel: the values that it reads in this block.
  [[nodiscard]] std::vector<std::vector<std::byte const*>> const& scalars() const {
    return scalars_;
  }

 private:
  static constexpr std::int64_t accumulator_bytes = detail::most_accumulator_bytes;

  static void run_alone(void const* self, std::int64_t, std::int64_t);
  void visit_tiles(std::size_t d);
  void select_tasks(std::size_t d);
  void run_tile();
  [[nodiscard]] bool set_indices(LoopTask const& task, LoopPart const& part);
  [[nodiscard]] std::int64_t offset_of(LoopOperand const& operand) const;
  void run_task(LoopTask const& task, LoopPart const& part);

  Loop const& loop_;
  LoopDevice const& device_;
  SourceLocation location_;
  Queue& queue_;
  bool is_eager_;
  bool launches_passes_;  // on a serial host space, whose launches are calls: one for a pass
  std::vector<KernelSource> sources_;  // of the loop's kernels, for the queue's launches
  std::vector<std::vector<std::byte const*>> scalars_;  // per kernel
  HostMemory accumulators_;
  std::vector<std::byte*> const* buffers_ = nullptr;
  LoopPass const* pass_ = nullptr;
  std::int64_t first_step_ = 0;
  Box tile_{Index(max_rank, 0), Index(max_rank, 0)};
  // The tasks that the tile meets, by how many dimensions were compared. Room for any pass.
  std::array<std::vector<LoopTask const*>, max_rank + 1> selected_;
  Index first_;
  Index extents_;
  KernelCall call_;
  std::array<OperandView, max_operands> views_;
};

}  // namespace tessera
