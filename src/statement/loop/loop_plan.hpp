#pragma once
/// @file
/// Blocks of a recorded loop's steps as devices carry them out. No channel is open.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/source.hpp"

#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"
#include "src/plan/block_schedule.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/lowering/lowered_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// A recorded statement's kernel, with its numbers.
struct LoopKernel {
  KernelForms forms;
  std::vector<std::byte> bytes;
  std::vector<std::size_t> scalars;  ///< by their roles in a step
  std::int64_t step = 0;             ///< the step number that it gets: counted from the loop's own,
  bool has_fixed_step = false;       ///< or always this one
  bool counts_steps = false;         ///< its results depend on the loop's own number
  std::int64_t copied_bytes = 0;     ///< of an element, if the kernel only copies; else 0
};

/// A reduction in one step of a block: the kernel adds up the cells of a device, and all devices
/// combine what they have.
struct LoopReduction {
  std::size_t kernel = 0;
  std::int64_t step = 0;   ///< of the block
  std::size_t result = 0;  ///< a scalar, by its role when the block starts
  std::size_t part = 0;    ///< of the step, after which the devices combine it
  Reduction functions;
};

/// Where a statement finds the cells of one array in either buffer.
struct LoopOperand {
  /// Offset of index 0 from the start of the buffer; for a constant, from the start of the kernel.
  std::int64_t origin_bytes = 0;
  Index strides;                ///< from index to index of the statement, in elements
  Index strides_bytes;          ///< the same in bytes
  std::int64_t step_bytes = 0;  ///< from step to step of the loop, counted from its step 0
  bool is_constant = false;
};

/// A statement over indices for which each of its operands is one formula, in one periodic image of
/// the domain.
struct LoopPart {
  std::size_t kernel = 0;
  bool unit_stride = false;
  /// Per dimension of the target: cell = offset + stride · index, unwrapped.
  InlineVector<AxisMap, max_rank> axes;
  LoopOperand target;  ///< of a reduction nothing but its rank
  std::vector<LoopOperand> operands;
};

/// One instance of a block on a device: the cells that it writes in one step.
struct LoopTask {
  std::size_t part = 0;
  Box cells = {};  ///< unwrapped
  Index skew = {};
  std::int64_t step = 0;   ///< of the block
  std::size_t target = 0;  ///< a buffer: 2 · array + BlockBuffer::which; or a reduction's number
  std::vector<std::size_t> operands = {};  ///< buffers; of a constant any
  bool reduces = false;
  /// As Part::non_temporal; only where a block is one step, and one tile is all.
  bool non_temporal = false;
};

/// Ghost cells to be copied to an array's other buffer before a block.
struct LoopGhosts {
  std::size_t array = 0;
  StridedBlock block;
};

/// Tasks that run tile by tile.
struct LoopPass {
  std::vector<LoopTask> tasks;  ///< in the order of the program
  Box tiles;                    ///< around all cells, each moved by its skew
};

/// The work of one device in a block, without its messages.
struct LoopWork {
  DeviceId device;
  std::vector<LoopPart> parts;
  LoopPass early;              ///< work that needs no message; may be empty
  std::vector<LoopPass> late;  ///< the rest, one after the other; with reductions one for each part
  // Of arrays whose buffers swap.
  std::vector<LoopGhosts> copied;
  std::vector<LoopGhosts> received;

  /// How many tasks a block has, in all its passes.
  [[nodiscard]] std::int64_t count_tasks() const {
    auto count = std::ssize(early.tasks);
    for (auto const& pass : late) count += std::ssize(pass.tasks);
    return count;
  }
};

/// What blocks of a loop's steps are on all devices together. The plans' buffers are the arrays,
/// each in its current buffer.
///
/// Shapes: all arrays have as many dimensions as `tile`.
struct LoopPlan {
  std::int64_t steps = 0;           ///< of a block
  std::int64_t statements = 0;      ///< of a step
  std::vector<LoopKernel> kernels;  ///< of the statements, then one per array that copies cells
  std::vector<LoopReduction> reductions;   ///< whose values are kept, in the order of the program
  std::size_t parts = 1;                   ///< of a step: see LoopStatement
  std::vector<std::size_t> scalars_after;  ///< per role: which scalar, by its role before the block
  std::vector<BlockBuffer> after;          ///< as of BlockSchedule
  std::vector<GhostWidths> widths;         ///< per array: its ghost widths at that time
  std::vector<bool> written;               ///< per array
  std::vector<bool> swapped;               ///< per array: it has two buffers
  std::vector<Box> differing;              ///< per array: where its buffers may differ
  Index tile;                              ///< extents, in cells
  bool keeps_graphs = false;               ///< GPUs get blocks as graphs
  std::uint64_t hash = 0;                  ///< of the program; equal on all processes
  std::string words;                       ///< for people: a description of the loop
  SourceLocation location;
};

/// Blocks as some devices of a job carry them out. Their channels are still to be opened.
struct LoweredLoop : LoopPlan {
  std::vector<LoopWork> devices;
  LoweredStatement first;  ///< fills the ghost cells of all arrays
  LoweredStatement later;  ///< of those that change
};

}  // namespace tessera
