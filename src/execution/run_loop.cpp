#include "src/execution/run_loop.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "src/device/host_memory.hpp"
#include "src/device/kernel_launch.hpp"
#include "src/device/row_launch.hpp"
#include "src/execution/loop_graphs.hpp"
#include "src/execution/tree_reduction.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/statement/kernel.hpp"

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

// One for each reduction of a block.
class Accumulators {
 public:
  explicit Accumulators(std::vector<LoopReduction> const& reductions)
      : reductions_(reductions), memory_(std::ssize(reductions) * bytes_of_one) {}

  [[nodiscard]] std::byte* of(std::size_t reduction) {
    return memory_.data() + static_cast<std::int64_t>(reduction) * bytes_of_one;
  }
  void start() {
    for (std::size_t r = 0; r < reductions_.size(); ++r) reductions_[r].functions.start(of(r));
  }

 private:
  static constexpr std::int64_t bytes_of_one = detail::most_accumulator_bytes;

  std::vector<LoopReduction> const& reductions_;
  HostMemory memory_;
};

// Runs the tasks of a pass, tile by tile. All arguments of kernel calls are prepared here, so that
// a task costs little more than its cells.
class BlockRunner {
 public:
  BlockRunner(DeviceTask const& task, LoopArguments const& arguments, Accumulators& accumulators)
      : loop_(arguments.run->loop),
        device_(loop_.devices[arguments.index]),
        accumulators_(accumulators),
        location_(task.tag.location),
        queue_(*task.queue),
        is_eager_(queue_.traits().is_eager),
        launches_passes_(is_eager_ && !launch_is_parallel()) {
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

  // `buffers`: 2 · array + BlockBuffer::which. `scalars`: by their roles.
  void begin(std::vector<std::byte*> const& buffers, std::vector<std::byte*> const& scalars,
             std::int64_t first_step) {
    buffers_ = &buffers;
    first_step_ = first_step;
    for (std::size_t k = 0; k < scalars_.size(); ++k)
      for (std::size_t s = 0; s < scalars_[k].size(); ++s)
        scalars_[k][s] = scalars[loop_.kernels[k].scalars[s]];
  }

  // Per kernel.
  [[nodiscard]] std::vector<std::vector<std::byte const*>> const& scalars() const {
    return scalars_;
  }

  void run(LoopPass const& pass) {
    if (pass.tasks.empty()) return;
    pass_ = &pass;
    selected_[0].clear();
    for (auto const& task : pass.tasks) selected_[0].push_back(&task);
    if (launches_passes_)
      launch(1, &run_alone, this, location_);
    else
      visit_tiles(0);
  }

 private:
  static void run_alone(void const* self, std::int64_t, std::int64_t) {
    // The object is not const: `launch` passes on the pointer that it was given.
    const_cast<BlockRunner*>(static_cast<BlockRunner const*>(self))->visit_tiles(0);
  }

  // Tiles in rising order, the last dimension fastest.
  void visit_tiles(std::size_t d) {
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
  void select_tasks(std::size_t d) {
    selected_[d + 1].clear();
    for (auto const* const task : selected_[d])
      if (task->cells.lo[d] + task->skew[d] < tile_.hi[d] &&
          task->cells.hi[d] + task->skew[d] > tile_.lo[d])
        selected_[d + 1].push_back(task);
  }

  void run_tile() {
    for (auto const* const task : selected_[loop_.tile.size()]) {
      auto const& part = device_.parts[task->part];
      if (set_indices(*task, part)) run_task(*task, part);
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
    for (std::size_t l = 0; l < part.operands.size(); ++l) {
      auto const& operand = part.operands[l];
      auto const* const base =
          operand.is_constant ? kernel.bytes.data() : (*buffers_)[task.operands[l]];
      auto const moved = operand.step_bytes * (first_step_ + task.step);
      views_[l] = {base + offset_of(operand) + moved, &operand.strides};
    }
    call_.kernel = kernel.bytes.data();
    if (task.reduces) {
      call_.accumulator = accumulators_.of(task.target);
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

  Loop const& loop_;
  LoopDevice const& device_;
  Accumulators& accumulators_;
  SourceLocation location_;
  Queue& queue_;
  bool is_eager_;
  bool launches_passes_;  // on a serial host space, whose launches are calls: one for a pass
  std::vector<KernelSource> sources_;  // of the loop's kernels, for the queue's launches
  std::vector<std::vector<std::byte const*>> scalars_;  // per kernel
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

// Permutes the scalars to their roles in the next step.
void rename(std::vector<std::byte*>& scalars, std::vector<std::byte*>& before,
            std::vector<std::size_t> const& next) {
  before = scalars;
  for (std::size_t s = 0; s < next.size(); ++s) scalars[s] = before[next[s]];
}

// Permutes the buffers to the arrays' roles after a block.
void rename(std::vector<BufferPair>& buffers, std::vector<BufferPair>& before,
            std::vector<BlockBuffer> const& after) {
  before = buffers;
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    auto const& [array, which] = after[a];
    buffers[a] = {before[array][which], before[array][1 - which]};
  }
}

void fill_other_buffers(DeviceTask const& task, std::vector<LoopGhosts> const& all,
                        std::vector<BufferPair> const& buffers) {
  for (auto const& [array, block] : all) {
    auto const& [from, to] = buffers[array];
    task.queue->copy_block(to, block, from, block);
  }
}

// Runs the blocks of a loop on one device.
class LoopRunner {
 public:
  LoopRunner(DeviceTask& task, LoopArguments& arguments)
      : task_(task),
        run_(*arguments.run),
        loop_(run_.loop),
        index_(arguments.index),
        device_(loop_.devices[index_]),
        buffers_(arguments.buffers),
        before_(buffers_),
        flat_(2 * buffers_.size()),
        scalars_(arguments.scalars),
        scalars_before_(scalars_),
        accumulators_(loop_.reductions),
        tasks_(task, arguments, accumulators_),
        graphs_(task.queue->traits().is_eager ? nullptr : device_.graphs.get()) {
    task.buffers.assign(buffers_.size(), nullptr);
  }

  void run() {
    if (run_.blocks == 0) return;
    run_block(0);
    if (graphs_ != nullptr) plan_graphs();
    auto block = 1 + run_graphs_of_blocks();
    for (; block < run_.blocks; ++block) run_block(block);
  }

 private:
  [[nodiscard]] DevicePlan const& later_plan() const { return loop_.later->devices[index_]; }
  [[nodiscard]] bool has_messages() const {
    return !later_plan().sends.empty() || !later_plan().receives.empty();
  }

  [[nodiscard]] std::int64_t launches_of(GraphPart part) const {
    std::int64_t early = std::ssize(device_.early.tasks) + std::ssize(device_.copied);
    if (part == GraphPart::early) return early;
    std::int64_t late = std::ssize(device_.received);
    for (auto const& pass : device_.late) late += std::ssize(pass.tasks);
    if (part == GraphPart::late) return late;
    return early + late + (part == GraphPart::blocks ? std::ssize(later_plan().copies) : 0);
  }

  void plan_graphs() {
    graphs_->begin(tasks_.scalars());
    GraphFacts facts;
    facts.blocks = run_.blocks - 1;
    facts.has_messages = has_messages();
    facts.launches = launches_of(facts.has_messages ? GraphPart::block : GraphPart::blocks);
    facts.counts_steps =
        std::ranges::any_of(loop_.kernels, [](auto const& kernel) { return kernel.counts_steps; });
    auto const& plan = graphs_->plan(facts, period_of(loop_.after));
    has_graphs_of_parts_ = facts.has_messages && plan.blocks > 0;
    blocks_in_graph_ = facts.has_messages ? 0 : plan.blocks;
  }

  // Runs graphs of whole blocks, if the host need not act in between. Returns the number of blocks
  // run.
  std::int64_t run_graphs_of_blocks() {
    if (blocks_in_graph_ == 0) return 0;
    name_buffers();
    auto const* kept = graphs_->find(GraphPart::blocks, flat_, blocks_in_graph_);
    if (kept == nullptr || kept->blocks < blocks_in_graph_) make_graph_of_blocks();
    std::int64_t done = 0;
    auto const left = [&] { return run_.blocks - 1 - done; };
    while ((kept = graphs_->find(GraphPart::blocks, flat_, left())) != nullptr) {
      for (auto runs = left() / kept->blocks; runs > 0; --runs, done += kept->blocks)
        task_.queue->run(*kept->graph);
    }
    note_phase(task_, Phase::kernel);
    return done;
  }

  // Captures blocks as they are normally submitted; after them all buffers are in their first
  // places.
  void make_graph_of_blocks() {
    auto const start = buffers_;
    (void)graphs_->make(*task_.queue, {GraphPart::blocks, blocks_in_graph_, flat_, nullptr},
                        [this] {
                          for (std::int64_t block = 1; block <= blocks_in_graph_; ++block)
                            run_block(block);
                        });
    buffers_ = start;
    name_buffers();
  }

  void name_buffers() {
    for (std::size_t a = 0; a < buffers_.size(); ++a) {
      task_.buffers[a] = buffers_[a][0];
      flat_[2 * a] = buffers_[a][0];
      flat_[2 * a + 1] = buffers_[a][1];
    }
  }

  void run_block(std::int64_t block) {
    name_buffers();
    task_.plan = block == 0 ? &loop_.first->devices[index_] : &later_plan();
    accumulators_.start();
    tasks_.begin(flat_, scalars_, run_.first_step + block * loop_.steps);
    if (overlaps_messages(device_, *task_.plan)) {
      send_cells(task_);
      run_part(GraphPart::early, [this] { run_early(); });
      receive_cells(task_);
      run_part(GraphPart::late, [this] { run_late(); });
    } else {
      exchange_cells(task_);
      run_part(GraphPart::block, [this] {
        run_early();
        run_late();
      });
    }
    rename(buffers_, before_, loop_.after);
    rename(scalars_, scalars_before_, loop_.scalars_after);
  }

  // Runs the work after messages, by the graph for the current buffers if there are graphs.
  template <class Work>
  void run_part(GraphPart part, Work const& work) {
    if (!has_graphs_of_parts_ || launches_of(part) < 2) return work();
    auto const* kept = graphs_->find(part, flat_, 1);
    if (kept == nullptr) kept = graphs_->make(*task_.queue, {part, 1, flat_, nullptr}, work);
    if (kept == nullptr) {
      has_graphs_of_parts_ = false;
      return work();
    }
    task_.queue->run(*kept->graph);
    note_phase(task_, Phase::kernel);
  }

  void run_early() {
    fill_other_buffers(task_, device_.copied, buffers_);
    note_phase(task_, Phase::pack);
    tasks_.run(device_.early);
    note_phase(task_, Phase::kernel);
  }
  void run_late() {
    fill_other_buffers(task_, device_.received, buffers_);
    note_phase(task_, Phase::pack);
    if (loop_.parts > 1) return run_parts();
    for (auto const& pass : device_.late) tasks_.run(pass);
    note_phase(task_, Phase::kernel);
    combine_part(0);
  }

  void run_parts() {
    for (std::size_t part = 0; part < loop_.parts; ++part) {
      if (part < device_.late.size()) tasks_.run(device_.late[part]);
      note_phase(task_, Phase::kernel);
      combine_part(part);
    }
  }

  // Devices that compute nothing get the values too.
  void combine_part(std::size_t part) {
    for (std::size_t r = 0; r < loop_.reductions.size(); ++r) {
      auto const& reduction = loop_.reductions[r];
      if (reduction.part != part) continue;
      task_.reduction = reduction.functions;
      task_.accumulator = accumulators_.of(r);
      task_.result = scalars_[reduction.result];
      reduce_along_tree(task_);
    }
  }

  DeviceTask& task_;
  LoopRun const& run_;
  Loop const& loop_;
  std::size_t index_;
  LoopDevice const& device_;
  std::vector<BufferPair>& buffers_;
  std::vector<BufferPair> before_;
  std::vector<std::byte*> flat_;
  std::vector<std::byte*>& scalars_;  // by their roles in the current step
  std::vector<std::byte*> scalars_before_;
  Accumulators accumulators_;
  BlockRunner tasks_;
  LoopGraphs* graphs_;                // null on the host, and where none are to be
  std::int64_t blocks_in_graph_ = 0;  // of whole blocks
  bool has_graphs_of_parts_ = false;
};

}  // namespace

bool overlaps_messages(LoopDevice const& device, DevicePlan const& plan) {
  return !device.early.tasks.empty() && !plan.receives.empty() && channels_hold_messages(plan);
}

void run_loop(DeviceTask& task, LoopArguments& arguments) {
  LoopRunner(task, arguments).run();
}

}  // namespace tessera
