#pragma once
/// @file
/// Blocks of steps of a recorded loop, ready to run on this process's devices.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/source.hpp"
#include "tessera/exchange/array_state.hpp"
#include "tessera/exchange/compiled_statement.hpp"
#include "tessera/exchange/kernel.hpp"
#include "tessera/exchange/scalar_state.hpp"
#include "tessera/plan/block_schedule.hpp"

namespace tessera {

/// A recorded statement's kernel, with its numbers.
struct LoopKernel {
  KernelForms forms;
  std::vector<std::byte> bytes;
  std::vector<std::shared_ptr<ScalarState>> scalars;
  std::int64_t step = 0;          ///< that it is told: from the loop's own on,
  bool has_fixed_step = false;    ///< or this one, always
  bool counts_steps = false;      ///< what it computes depends on the loop's own
  std::int64_t copied_bytes = 0;  ///< of an element, where the kernel copies them; else 0
};

/// Where a statement finds the cells of one array in whichever buffer.
struct LoopOperand {
  /// Of index 0 from the start of the buffer; of a constant from the start of the kernel.
  std::int64_t origin_bytes = 0;
  Index strides;        ///< from index to index of the statement, in elements
  Index strides_bytes;  ///< the same in bytes
  bool is_constant = false;
};

/// A statement over indices for which each of its leaves is one formula, in one image of the
/// domain.
struct LoopPart {
  std::size_t kernel = 0;
  bool unit_stride = false;
  /// Per dimension of the target: cell = offset + stride · index, unwrapped.
  InlineVector<AxisMap, max_rank> axes;
  LoopOperand target;
  std::vector<LoopOperand> leaves;
};

/// One instance of a block on a device: cells that are written in one step.
struct LoopTask {
  std::size_t part = 0;
  Box cells;  ///< unwrapped
  Index skew;
  std::int64_t step = 0;            ///< of the block
  std::size_t target = 0;           ///< a buffer: 2 · array + BlockBuffer::which
  std::vector<std::size_t> leaves;  ///< buffers; of a constant any
};

/// Ghost cells as a block finds them, to be copied to an array's other buffer.
struct LoopGhosts {
  std::size_t array = 0;
  StridedBlock block;
};

/// Tasks that run tile by tile.
struct LoopPass {
  std::vector<LoopTask> tasks;  ///< in the order of the program
  Box tiles;                    ///< around all cells, each moved by its skew
};

/// What a GPU keeps from run to run to be brought its blocks in one go.
class LoopGraphs;
/// For a device that may be a GPU: none yet.
[[nodiscard]] std::shared_ptr<LoopGraphs> make_loop_graphs();

/// What one local device does in a block.
struct LoopDevice {
  DeviceId device;
  std::vector<LoopPart> parts;
  LoopPass early;              ///< what needs no message; it may be empty
  std::vector<LoopPass> late;  ///< the rest, one after the other
  // Of arrays whose buffers swap.
  std::vector<LoopGhosts> copied;
  std::vector<LoopGhosts> received;
  std::shared_ptr<LoopGraphs> graphs;  ///< null if there are to be none

  /// How many tasks a block has, in all its passes.
  [[nodiscard]] std::int64_t count_tasks() const {
    auto count = std::ssize(early.tasks);
    for (auto const& pass : late) count += std::ssize(pass.tasks);
    return count;
  }
};

/// True if a device runs its early pass while what `plan` receives is still on its way; false if
/// there is nothing to run or to receive, or if the channels do not hold what it sends.
[[nodiscard]] bool goes_ahead(LoopDevice const& device, DevicePlan const& plan);

/// How a GPU was brought its blocks in the last run.
struct GraphUse {
  std::int64_t blocks = 0;  ///< in a graph; 0: plainly, launch by launch
  std::int64_t made = 0;    ///< graphs, since the loop was made
  std::string obstacle;     ///< for people: why plainly; empty where there was no GPU
};
/// What is known of it between two runs. Ranks: local.
[[nodiscard]] GraphUse graph_use(LoopDevice const& device);

/// Blocks of a loop's steps. The plans' buffers are the arrays, each in its current buffer.
///
/// Shapes: all arrays have as many dimensions as `tile`.
struct Loop {
  std::int64_t steps = 0;           ///< of a block
  std::int64_t statements = 0;      ///< of a step
  std::vector<LoopKernel> kernels;  ///< of the statements, then one per array that copies cells
  std::vector<LoopDevice> devices;
  std::shared_ptr<CompiledStatement> first;  ///< fills the ghost cells of all arrays
  std::shared_ptr<CompiledStatement> later;  ///< of those that change
  std::vector<BlockBuffer> after;            ///< as of BlockSchedule
  std::vector<GhostWidths> widths;           ///< per array: what its ghost cells were then
  std::vector<bool> written;                 ///< per array
  std::vector<bool> swapped;                 ///< per array: it has two buffers
  std::vector<Box> differing;                ///< per array: where its buffers may differ
  Index tile;                                ///< extents, in cells
  std::uint64_t hash = 0;                    ///< of the program; equal on all processes
  std::string words;                         ///< for people: what the loop is
  Place place;
};

/// A run of some blocks.
struct LoopRun {
  Loop const& loop;
  std::vector<std::shared_ptr<ArrayState>> const& arrays;  ///< as the first step calls them
  std::int64_t blocks = 0;
  std::int64_t first_step = 0;  ///< what kernels are told as the number of the first step
};

}  // namespace tessera
