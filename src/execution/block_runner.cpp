#include "src/execution/block_runner.hpp"

#include <algorithm>
#include <iterator>

#include "src/device/kernel_launch.hpp"
#include "src/device/row_launch.hpp"
#include "src/index/affine_map.hpp"
#include "src/statement/scalar_model.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

KernelSource source_of(LoopKernel const& kernel, SourceLocation const& location) {
  return {.forms = &kernel.forms,
          .bytes = std::ssize(kernel.bytes),
          .copied_bytes = kernel.copied_bytes,
          .scalar_count = kernel.scalars.size(),
          .scalar_bytes = ScalarModel::most_bytes,
          .location = location};
}

}  // namespace

BlockRunner::BlockRunner(DeviceTask const& task, LoopArguments const& arguments)
    : loop_(arguments.run->loop),
      device_(loop_.devices[arguments.index]),
      location_(task.tag.location),
      queue_(*task.queue),
      is_eager_(queue_.traits().is_eager),
      launches_passes_(is_eager_ && !launch_is_parallel()),
      accumulators_(std::ssize(loop_.reductions) * accumulator_bytes) {
  if (!launches_passes_)
    for (auto const& kernel : loop_.kernels) sources_.push_back(source_of(kernel, location_));
  call_.first = &first_;
  call_.extents = &extents_;
  call_.operands = views_.data();
  for (auto const& kernel : loop_.kernels) scalars_.emplace_back(kernel.scalars.size());
  auto most = device_.early.tasks.size();
  for (auto const& pass : device_.late) most = std::max(most, pass.tasks.size());
  for (std::size_t d = 0; d <= loop_.tile.size(); ++d) selected_[d].reserve(most);
}

void BlockRunner::begin(std::vector<std::byte*> const& buffers,
                        std::vector<std::byte*> const& scalars, std::int64_t first_step) {
  buffers_ = &buffers;
  first_step_ = first_step;
  for (std::size_t k = 0; k < scalars_.size(); ++k)
    for (std::size_t s = 0; s < scalars_[k].size(); ++s)
      scalars_[k][s] = scalars[loop_.kernels[k].scalars[s]];
  for (std::size_t r = 0; r < loop_.reductions.size(); ++r)
    loop_.reductions[r].functions.start(accumulator(r));
}

std::byte* BlockRunner::accumulator(std::size_t reduction) {
  return accumulators_.data() + static_cast<std::int64_t>(reduction) * accumulator_bytes;
}

void BlockRunner::run(LoopPass const& pass) {
  if (pass.tasks.empty()) return;
  pass_ = &pass;
  selected_[0].clear();
  for (auto const& task : pass.tasks) selected_[0].push_back(&task);
  if (launches_passes_)
    launch(1, &run_alone, this, location_);
  else
    visit_tiles(0);
}

void BlockRunner::run_alone(void const* self, std::int64_t, std::int64_t) {
  // The object is not const: `launch` passes on the pointer that it was given.
  const_cast<BlockRunner*>(static_cast<BlockRunner const*>(self))->visit_tiles(0);
}

// Tiles in rising order, the last dimension fastest.
void BlockRunner::visit_tiles(std::size_t d) {
  if (d == loop_.tile.size()) {
    run_tile();
    return;
  }
  auto const& tiles = pass_->tiles;
  // A GPU is given as much work at once as there is. No tile is longer than that, so that `at +
  // extent` never overflows.
  auto const all = std::max<std::int64_t>(tiles.extent(d), 1);
  auto const extent = is_eager_ ? std::min(loop_.tile[d], all) : all;
  for (auto at = tiles.lo[d]; at < tiles.hi[d]; at += extent) {
    tile_.lo[d] = at;
    tile_.hi[d] = std::min(at + extent, tiles.hi[d]);
    select_tasks(d);
    if (!selected_[d + 1].empty()) visit_tiles(d + 1);
  }
}

// Of the tasks that the tile meets along all dimensions before `d`, selects those that it meets
// along `d` too.
void BlockRunner::select_tasks(std::size_t d) {
  selected_[d + 1].clear();
  for (auto const* const task : selected_[d])
    if (task->cells.lo[d] + task->skew[d] < tile_.hi[d] &&
        task->cells.hi[d] + task->skew[d] > tile_.lo[d])
      selected_[d + 1].push_back(task);
}

void BlockRunner::run_tile() {
  for (auto const* const task : selected_[loop_.tile.size()]) {
    auto const& part = device_.parts[task->part];
    if (set_indices(*task, part)) run_task(*task, part);
  }
}

// The statement's indices of the task's cells in the tile; false if there are none.
bool BlockRunner::set_indices(LoopTask const& task, LoopPart const& part) {
  auto const rank = part.target.strides.size();
  // A dimension that moves no cell has one index.
  first_ = Index(rank, 0);
  extents_ = Index(rank, 1);
  for (std::size_t d = 0; d < part.axes.size(); ++d) {
    auto const& axis = part.axes[d];
    auto lo = std::max(task.cells.lo[d], tile_.lo[d] - task.skew[d]);
    auto hi = std::min(task.cells.hi[d], tile_.hi[d] - task.skew[d]);
    if (lo >= hi) return false;
    if (axis.from == AxisMap::fixed) continue;
    lo -= axis.offset;
    hi -= axis.offset;
    if (axis.stride != 1) {
      lo = ceil_div(lo, axis.stride);
      hi = ceil_div(hi, axis.stride);
      if (lo >= hi) return false;
    }
    auto const from = static_cast<std::size_t>(axis.from);
    first_[from] = lo;
    extents_[from] = hi - lo;
  }
  return true;
}

std::int64_t BlockRunner::offset_of(LoopOperand const& operand) const {
  auto offset = operand.origin_bytes;
  for (std::size_t d = 0; d < first_.size(); ++d) offset += first_[d] * operand.strides_bytes[d];
  return offset;
}

void BlockRunner::run_task(LoopTask const& task, LoopPart const& part) {
  auto const& kernel = loop_.kernels[part.kernel];
  for (std::size_t l = 0; l < part.operands.size(); ++l) {
    auto const& operand = part.operands[l];
    auto const* const base =
        operand.is_constant ? kernel.bytes.data() : (*buffers_)[task.operands[l]];
    auto const moved = operand.step_bytes * (first_step_ + task.step);
    views_[l] = {base + offset_of(operand) + moved, &operand.strides};
  }
  call_.kernel = kernel.bytes.data();
  if (task.reduces) {
    call_.accumulator = accumulator(task.target);
  } else {
    call_.target = (*buffers_)[task.target] + offset_of(part.target);
    call_.target_strides = &part.target.strides;
  }
  call_.scalars = scalars_[part.kernel].data();
  call_.step = kernel.step + (kernel.has_fixed_step ? 0 : first_step_ + task.step);
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < extents_.size(); ++d) rows *= extents_[d];
  if (launches_passes_)
    host_form(kernel.forms, part.unit_stride, task.non_temporal)(&call_, 0, rows);
  else
    queue_.launch({.kernel = &sources_[part.kernel],
                   .box = &call_,
                   .rows = rows,
                   .operand_count = part.operands.size(),
                   .unit_stride = part.unit_stride,
                   .non_temporal = task.non_temporal,
                   .is_whole = task.reduces});
}

}  // namespace tessera
