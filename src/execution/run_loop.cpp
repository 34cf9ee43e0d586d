#include "src/execution/run_loop.hpp"

#include <algorithm>
#include <vector>

#include "src/execution/block_runner.hpp"
#include "src/execution/loop_graphs.hpp"
#include "src/execution/tree_reduction.hpp"

namespace tessera {
namespace {

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
        tasks_(task, arguments),
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
      task_.accumulator = tasks_.accumulator(r);
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
