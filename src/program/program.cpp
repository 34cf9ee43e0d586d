#include "tessera/program/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/queue.hpp"
#include "src/execution/loop.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/index.hpp"
#include "src/job/job.hpp"
#include "src/program/loop_explanation.hpp"
#include "src/program/recording.hpp"
#include "src/program/statement_replay.hpp"
#include "src/program/tuning.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/runtime/listener.hpp"
#include "src/runtime/over_processes.hpp"
#include "src/runtime/statement_hooks.hpp"
#include "src/runtime/submission.hpp"
#include "src/statement/loop/loop_analysis.hpp"
#include "src/statement/loop/lower_loop.hpp"

namespace tessera {

struct Program::Impl {
  std::function<void(Step)> body;
  LoopOptions options;
  SourceLocation location;
  std::int64_t done = 0;  // steps

  RecordedStep first;
  std::uint64_t newest_before = 0;  // the number of the newest array when recording began
  bool is_recorded = false;
  std::string plain_reason;  // of a loop that is not recorded, for people
  ArrayBindings bindings;
  std::int64_t later = 0;  // steps since the first recorded one
  LoopAnalysis analysis;
  MachineFacts machine;
  BlockChoice choice;
  std::int64_t depth = 0;                                // of the blocks of the last run
  std::map<std::int64_t, std::unique_ptr<Loop>> blocks;  // by their steps
  std::unique_ptr<StatementReplay> replay;
  Explanations statements;
  double measured_seconds = 0;
  bool is_running = false;
  bool is_abandoned = false;  // the Program was destroyed or replaced while it ran

  void run(std::int64_t steps) {
    auto const reason = reason_not_to_record();
    Running const running(*this);
    plain_reason = reason;
    if (!plain_reason.empty()) {
      is_recorded = false;
      return run_plainly(steps);
    }
    if (detail::checks_recordings()) {
      plain_reason = "TESSERA_CHECK=recording runs the body in every step";
      return run_checking(steps);
    }
    if (is_recorded && !still_does_the_same(steps)) is_recorded = false;
    if (!is_recorded) {
      if (steps < 3) {
        plain_reason = "a run of fewer than 3 steps is just run";
        return run_plainly(steps);
      }
      record();
      steps -= 2;
    }
    if (!bindings.fallback_reason.empty()) return run_plainly(steps);
    auto whole = std::min(steps, steps_inside()) / bindings.period * bindings.period;
    // The body may have made a listener.
    if (!reason_to_run_bodies().empty()) whole = 0;
    if (whole > 0) run_replay(whole);
    run_plainly(steps - whole);
    later += steps - whole;
  }

  // How many steps from now on all slices by the number of the step lie inside their arrays. After
  // these the body itself runs, which throws where a plain loop does.
  [[nodiscard]] std::int64_t steps_inside() {
    auto inside = std::numeric_limits<std::int64_t>::max();
    for (auto& recorded : first.statements)
      visit_fixed_axes(recorded.statement, [&](AxisMap const& axis, std::int64_t extent) {
        if (axis.per_step == 0) return;
        auto const now = axis.offset + axis.per_step * (done - recorded.recorded_in);
        auto const left = axis.per_step > 0 ? extent - 1 - now : now;
        auto const steps = left < 0 ? 0 : left / std::abs(axis.per_step) + 1;
        inside = std::min(inside, steps);
      });
    return inside;
  }

  struct Running {
    explicit Running(Impl& of) : program(of) {
      if (program.is_running)
        throw UsageError(text("the body of the loop at ", program.location,
                              " runs its own program, which would never end; write its statements "
                              "into the body, or record a program of its own for an inner loop"));
      program.is_running = true;
    }
    ~Running() { program.is_running = false; }
    Running(Running const&) = delete;
    Running& operator=(Running const&) = delete;
    Impl& program;
  };

  // One step. Runs the body for real.
  void run_body() {
    body(Step(done));
    ++done;
    if (is_abandoned)
      throw UsageError(text("the body of the loop at ", location,
                            " destroyed or replaced its own program, which ends after this step; "
                            "do that when run() has returned"));
  }

  // Inside a loop that is being recorded, the statements of all steps belong to the outer
  // recording. A budget may refuse any statement; then the arrays must be in the state of a plain
  // loop.
  static std::string reason_not_to_record() {
    if (auto const reason = reason_to_run_bodies(); !reason.empty()) return std::string(reason);
    if (auto const refuser = detail::refuser(); !refuser.empty())
      return text(refuser, " may refuse any statement");
    return {};
  }

  void run_plainly(std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) run_body();
  }

  RecordedStep recorded_step() {
    Recorder recorder(done, location, newest_before);
    run_body();
    return recorder.take();
  }

  // Every step runs for real, and is compared with the first two. If these show that the body must
  // run in every step, there is nothing to compare.
  void run_checking(std::int64_t steps) {
    is_recorded = false;
    if (steps < 3) return run_plainly(steps);
    begin_recording();
    first = recorded_step();
    auto before = recorded_step();
    auto const fallback_reason = compare_steps(first, before, location).fallback_reason;
    if (!fallback_reason.empty()) return run_plainly(steps - 2);
    auto const pattern = pattern_of(first, before);
    for (std::int64_t step = 2; step < steps; ++step) {
      if (steps_inside() == 0) return run_plainly(steps - step);
      auto now = recorded_step();
      if (!runs_the_same(first, now) || pattern_of(before, now) != pattern)
        throw UsageError(text("step ", done - 1, " of the loop at ", location,
                              " differs from the first two, which would be replayed"));
      before = std::move(now);
    }
  }

  // Between two runs the program may have passed other arrays or numbers to the body. The first
  // period of steps therefore runs for real.
  bool still_does_the_same(std::int64_t& steps) {
    if (!bindings.fallback_reason.empty()) return true;
    if (bindings.makes_new) return false;
    for (std::int64_t step = 0; step < bindings.period && steps > 0; ++step) {
      --steps;
      if (!is_same_step(first, recorded_step(), bindings, later)) return false;
      ++later;
    }
    return true;
  }

  void record() {
    begin_recording();
    auto one = recorded_step();
    RecordedStep two;
    {
      ExplainInto const explaining(statements);
      two = recorded_step();
    }
    bindings = compare_steps(one, two, location);
    first = std::move(one);
    later = 2;
    if (bindings.fallback_reason.empty()) {
      analysis = analyze(first.statements, bindings);
      if (analysis.fallback_reason.empty()) check_device();
      if (analysis.fallback_reason.empty())
        choose();
      else
        replay = std::make_unique<StatementReplay>(first.statements, bindings);
    }
    is_recorded = true;
  }

  // A GPU gets a block without waiting for values in between.
  void check_device() {
    if (device_traits().is_eager) return;
    if (analysis.reduces)
      analysis.fallback_reason = "on GPUs reductions are run one by one";
    else if (analysis.scalars_change)
      analysis.fallback_reason = "scalars change their places";
  }

  struct ExplainInto {
    explicit ExplainInto(Explanations& into) : before(detail::explain_into(&into)) {}
    ~ExplainInto() { (void)detail::explain_into(before); }
    ExplainInto(ExplainInto const&) = delete;
    ExplainInto& operator=(ExplainInto const&) = delete;
    Explanations* before;
  };

  void begin_recording() {
    newest_before = detail::newest_number();
    statements.statements.clear();
    blocks.clear();
    replay.reset();
    first = {};  // objects that only these hold are reused or freed
    bindings = {};
    analysis = {};
    measured_seconds = 0;
    choice = {};
    depth = 0;
  }

  void choose() {
    constexpr double between_threads = 0.5e-6;
    machine.message_seconds = std::max(detail::rendezvous_seconds(), between_threads);
    machine.caches = detail::least_caches();
    choice = choose_block(analysis, bindings, options.with_environment(), machine);
  }

  void run_replay(std::int64_t steps) {
    HeardAsOne const heard(ReplayedSteps{location, first.statements, bindings, done, steps, later});
    if (replay != nullptr) {
      replay->run(steps, later, done);
      done += steps;
      later += steps;
    } else {
      depth = depth_for(steps);
      prepare_blocks(depth, steps / depth);
      prepare_blocks(steps % depth, 1);
      auto const begin = std::chrono::steady_clock::now();
      run_blocks(depth, steps / depth);
      run_blocks(steps % depth, 1);
      std::chrono::duration<double> const time = std::chrono::steady_clock::now() - begin;
      measured_seconds = time.count() / static_cast<double>(steps);
    }
  }

  // The steps of a block in a run of `steps` steps: a run of a few blocks is divided evenly, unless
  // the caller chose the depth.
  [[nodiscard]] std::int64_t depth_for(std::int64_t steps) const {
    constexpr std::int64_t few = 4;
    auto const most = choice.shape.steps;
    auto const count = ceil_div(steps, most);
    bool const is_even = !choice.is_depth_asked && count > 0 && count <= few;
    return is_even ? ceil_div(steps, count) : most;
  }

  void prepare_blocks(std::int64_t steps, std::int64_t count) {
    if (steps > 0 && count > 0) (void)block_of(steps);
  }

  void run_blocks(std::int64_t steps, std::int64_t count) {
    if (steps == 0 || count == 0) return;
    auto const& loop = block_of(steps);
    std::vector<std::shared_ptr<ArrayState>> arrays;
    for (auto const name : renamed(bindings.next_array, later % bindings.period))
      arrays.push_back(storage_of(bindings.arrays[name]));
    std::vector<std::shared_ptr<ScalarState>> scalars;
    for (auto const name : renamed(bindings.next_scalar, later % bindings.period))
      scalars.push_back(storage_of(bindings.scalars[name]));
    detail::run_loop_blocks(LoopRun{loop, arrays, count, done, scalars});
    done += steps * count;
    later += steps * count;
  }

  Loop const& block_of(std::int64_t steps) {
    if (auto const found = blocks.find(steps); found != blocks.end() && !has_grown(*found->second))
      return *found->second;
    auto const schedule = schedule_block(analysis.body, steps, choice.shape.alignment);
    auto const widths = ghost_widths_of_loop(bindings, schedule);
    for (std::size_t a = 0; a < widths.size(); ++a)
      detail::grow_ghost_cells(storage_of(*bindings.arrays[a]), widths[a]);
    auto shape = choice.shape;
    shape.steps = steps;
    auto loop =
        std::make_unique<Loop>(lower_loop({first.statements, bindings, analysis, schedule}, shape,
                                          {job().first_local(), job().local_count()}));
    loop->location = location;
    loop->words = text("the loop at ", location);
    detail::open_loop_channels(*loop);
    return *(blocks[steps] = std::move(loop));
  }

  // True if the arrays' ghost cells are not those that the block was made for.
  [[nodiscard]] bool has_grown(Loop const& loop) const {
    for (std::size_t a = 0; a < bindings.arrays.size(); ++a)
      if (!(bindings.arrays[a]->widths() == loop.widths[a])) return true;
    return false;
  }

  [[nodiscard]] LoopExplanation explain() const {
    LoopExplanation result;
    result.location = location;
    result.fallback_reason = plain_reason;
    if (!is_recorded) return result;
    result.statements = statements;
    result.period = bindings.period;
    result.fallback_reason = bindings.fallback_reason;
    if (!result.fallback_reason.empty()) return result;
    result.mode = LoopMode::replayed;
    result.fallback_reason = analysis.fallback_reason;
    if (!result.fallback_reason.empty()) return result;
    result.mode = LoopMode::in_blocks;
    result.depth = depth > 0 ? depth : choice.shape.steps;
    for (auto const extent : choice.shape.tile)
      result.tile.push_back(extent == whole_extent ? 0 : extent);
    result.parts = static_cast<std::int64_t>(analysis.part_of.back()) + 1;
    result.bottleneck = choice.reason;
    result.caches = machine.caches;
    result.message_seconds = machine.message_seconds;
    result.predicted_seconds = choice.step_seconds;
    result.measured_seconds = measured_seconds;
    auto const found = blocks.find(result.depth);
    if (found == blocks.end()) return result;  // no run had a whole block
    explain_block(*found->second, result);
    return result;
  }
};

Program::Program(std::function<void(Step)> body, LoopOptions const& options,
                 SourceLocation const& location)
    : impl_(std::make_shared<Impl>()) {
  options.check();
  impl_->body = std::move(body);
  impl_->options = options;
  impl_->location = location;
}
Program::~Program() {
  abandon();
}
Program::Program(Program&& other) noexcept = default;
Program& Program::operator=(Program&& other) noexcept {
  if (this == &other) return *this;
  abandon();
  impl_ = std::move(other.impl_);
  return *this;
}

void Program::abandon() noexcept {
  if (impl_ != nullptr) impl_->is_abandoned = true;
}

Program::Impl& Program::impl() const {
  if (impl_ == nullptr)
    throw UsageError("this program was moved from; assign another one to it before it is used");
  return *impl_;
}

void Program::run(std::int64_t steps) {
  detail::check_steps(steps);
  auto& program = impl();
  auto const kept = impl_;
  program.run(steps);
}

std::int64_t Program::steps() const {
  return impl().done;
}

std::int64_t Program::statements() const {
  return std::ssize(impl().first.statements);
}

LoopExplanation Program::explain() const {
  return impl().explain();
}

void detail::check_steps(std::int64_t steps) {
  if (steps < 0) throw UsageError(text("a loop cannot run ", steps, " steps; pass 0 or more"));
}

void detail::check_interval(std::int64_t steps) {
  if (steps < 1) throw UsageError(text("every(", steps, ") is no interval; pass 1 or more steps"));
}

}  // namespace tessera
