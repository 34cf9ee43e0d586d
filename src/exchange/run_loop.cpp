#include "run_loop.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/planted.hpp"
#include "tessera/device/launch.hpp"

#include "gpu_launch.hpp"

namespace tessera {
namespace {

// Runs the tasks of a pass, tile by tile. Everything that a call of a kernel is told lies ready
// here, so that a task costs little more than its cells.
class BlockRunner {
 public:
  BlockRunner(Record const& record, LoopArguments const& arguments)
      : loop_(arguments.run->loop),
        device_(loop_.devices[arguments.index]),
        arguments_(arguments),
        place_(record.tag.place),
        gpu_(record.gpu == nullptr ? nullptr : record.gpu->stream.get()) {
    call_.first = &first_;
    call_.extents = &extents_;
    call_.leaves = views_.data();
  }

  // `buffers`: 2 · array + BlockBuffer::which.
  void begin(std::vector<std::byte*> const& buffers, std::int64_t first_step) {
    buffers_ = &buffers;
    first_step_ = first_step;
  }

  void run(LoopPass const& pass) {
    if (pass.tasks.empty()) return;
    pass_ = &pass;
    if (launch_is_parallel() || gpu_ != nullptr)
      visit_tiles(0);
    else
      launch(1, &run_alone, this, place_);
  }

 private:
  static void run_alone(void const* self, std::int64_t, std::int64_t) {
    // The object is no constant: `launch` hands on what it was given.
    const_cast<BlockRunner*>(static_cast<BlockRunner const*>(self))->visit_tiles(0);
  }

  // Tiles in rising order, the last dimension fastest.
  void visit_tiles(std::size_t d) {
    if (d == loop_.tile.size()) {
      run_tile();
      return;
    }
    auto const& tiles = pass_->tiles;
    // A GPU is given as much at once as there is.
    auto const extent =
        gpu_ == nullptr ? loop_.tile[d] : std::max<std::int64_t>(tiles.extent(d), 1);
    for (auto at = tiles.lo[d]; at < tiles.hi[d]; at += extent) {
      tile_.lo[d] = at;
      tile_.hi[d] = std::min(at + extent, tiles.hi[d]);
      if (planted("last_tile_short") && tile_.hi[d] == tiles.hi[d] && at != 0) --tile_.hi[d];
      visit_tiles(d + 1);
    }
  }

  void run_tile() {
    for (auto const& task : pass_->tasks) {
      auto const& part = device_.parts[task.part];
      if (set_indices(task, part)) run_task(task, part);
    }
  }

  // The statement's indices of the task's cells in the tile; false if there are none.
  bool set_indices(LoopTask const& task, LoopPart const& part) {
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

  [[nodiscard]] std::int64_t offset_of(LoopOperand const& operand) const {
    auto offset = operand.origin_bytes;
    for (std::size_t d = 0; d < first_.size(); ++d) offset += first_[d] * operand.strides_bytes[d];
    return offset;
  }

  void run_task(LoopTask const& task, LoopPart const& part) {
    auto const& kernel = loop_.kernels[part.kernel];
    for (std::size_t l = 0; l < part.leaves.size(); ++l) {
      auto const& leaf = part.leaves[l];
      auto const* const base = leaf.is_constant ? kernel.bytes.data() : (*buffers_)[task.leaves[l]];
      views_[l] = {base + offset_of(leaf), &leaf.strides};
    }
    call_.kernel = kernel.bytes.data();
    call_.target = (*buffers_)[task.target] + offset_of(part.target);
    call_.target_strides = &part.target.strides;
    call_.scalars = arguments_.scalars[part.kernel].data();
    call_.step = kernel.step + (kernel.has_fixed_step ? 0 : first_step_ + task.step);
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < extents_.size(); ++d) rows *= extents_[d];
    if (gpu_ != nullptr) {
      launch_on_gpu(*gpu_, launch_of(part, kernel, rows));
      return;
    }
    auto const function = part.unit_stride ? kernel.forms.unit_stride : kernel.forms.any_stride;
    if (launch_is_parallel())
      launch(rows, function, &call_, place_);
    else
      function(&call_, 0, rows);
  }

  [[nodiscard]] GpuLaunch launch_of(LoopPart const& part, LoopKernel const& kernel,
                                    std::int64_t rows) const {
    GpuLaunch launch;
    launch.forms = &kernel.forms;
    launch.box = &call_;
    launch.rows = rows;
    launch.unit_stride = part.unit_stride;
    launch.leaf_count = part.leaves.size();
    launch.scalar_count = kernel.scalars.size();
    launch.kernel_bytes = std::ssize(kernel.bytes);
    launch.copied_bytes = kernel.copied_bytes;
    launch.place = place_;
    return launch;
  }

  Loop const& loop_;
  LoopDevice const& device_;
  LoopArguments const& arguments_;
  Place place_;
  GpuStream* gpu_;  // null on the host
  std::vector<std::byte*> const* buffers_ = nullptr;
  LoopPass const* pass_ = nullptr;
  std::int64_t first_step_ = 0;
  Box tile_{Index(max_rank, 0), Index(max_rank, 0)};
  Index first_;
  Index extents_;
  KernelCall call_;
  std::array<LeafView, max_leaves> views_;
};

// What arrays are called after a block.
void rename(std::vector<BufferPair>& buffers, std::vector<BufferPair>& before,
            std::vector<BlockBuffer> const& after) {
  before = buffers;
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    auto const& [array, which] = after[planted("arrays_keep_their_names") ? 0 : a];
    buffers[a] = {before[array][which], before[array][1 - which]};
  }
}

void fill_other_buffers(Record const& record, std::vector<LoopGhosts> const& all,
                        std::vector<BufferPair> const& buffers) {
  if (planted("ghosts_in_one_buffer")) return;
  for (auto const& [array, block] : all) {
    auto const& [from, to] = buffers[array];
    if (record.gpu == nullptr)
      copy_block(to, block, from, block);
    else
      record.gpu->stream->copy_block(to, block, from, block);
  }
}

}  // namespace

bool goes_ahead(LoopDevice const& device, DevicePlan const& plan) {
  return !device.early.tasks.empty() && !plan.receives.empty() && channels_hold_messages(plan);
}

void run_loop(Record& record, LoopArguments& arguments) {
  auto const& run = *arguments.run;
  auto const& loop = run.loop;
  auto const& device = loop.devices[arguments.index];
  auto& buffers = arguments.buffers;
  std::vector<BufferPair> before(buffers);
  std::vector<std::byte*> flat(2 * buffers.size());
  BlockRunner runner(record, arguments);
  record.buffers.assign(buffers.size(), nullptr);
  for (std::int64_t block = 0; block < run.blocks; ++block) {
    for (std::size_t a = 0; a < buffers.size(); ++a) {
      record.buffers[a] = buffers[a][0];
      flat[2 * a] = buffers[a][0];
      flat[2 * a + 1] = buffers[a][1];
    }
    record.plan = &(block == 0 ? loop.first : loop.later)->devices[arguments.index];
    runner.begin(flat, run.first_step + block * loop.steps);
    bool const is_ahead = goes_ahead(device, *record.plan);
    if (is_ahead)
      send_cells(record);
    else
      exchange_cells(record);
    fill_other_buffers(record, device.copied, buffers);
    note_phase(record, Phase::pack);
    runner.run(device.early);
    note_phase(record, Phase::kernel);
    if (is_ahead) receive_cells(record);
    fill_other_buffers(record, device.received, buffers);
    note_phase(record, Phase::pack);
    for (auto const& pass : device.late) runner.run(pass);
    note_phase(record, Phase::kernel);
    rename(buffers, before, loop.after);
  }
}

}  // namespace tessera
