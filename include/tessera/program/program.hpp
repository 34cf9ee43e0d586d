#pragma once
/// @file
/// Loops that are recorded once and replayed: the body runs a few times, and the devices run all
/// steps.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <source_location>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/evaluate/build.hpp"
#include "tessera/detail/array/expr/moved.hpp"
#include "tessera/detail/program/steps.hpp"
#include "tessera/index/index.hpp"
#include "tessera/plan/caches.hpp"
#include "tessera/plan/explanation.hpp"

namespace tessera {

namespace detail {

struct StepKernel {
  static constexpr KernelEnds ends{};
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    return ConstantRow<std::int64_t>{call.step};
  }
};

[[nodiscard]] inline auto make_kernel(Step const& step, Builder& builder) {
  auto& statement = builder.statement();
  if (statement.step.value_or(step.number()) != step.number())
    throw UsageError(
        "one statement uses the steps of two loops, one inside the other; split it into two");
  statement.step = step.number();
  return StepKernel{};
}
[[nodiscard]] inline auto make_kernel(LaterStep const& later, Builder& builder) {
  return make_kernel(computed<Add>(later.step, whole_number(later.plus)), builder);
}

}  // namespace detail

/// Options that override the library's choices. The library chooses every value that is zero, empty
/// or unset. Environment variables take precedence: TESSERA_DEPTH, TESSERA_TILE, TESSERA_OVERLAP
/// and TESSERA_GRAPHS.
struct LoopOptions {
  /// Steps between two exchanges: in place of exchanges, each device also computes some of its
  /// neighbours' cells. 1: as the plain loop, a message per neighbour and step. A block has at most
  /// 4096 statements; larger numbers are cut to that.
  std::int64_t depth = 0;
  /// Cells of a tile along each dimension; all steps of a block run over one tile before the next.
  /// 0, and any number beyond the array: the whole extent.
  Shape tile = {};
  /// Whether a device computes cells that need none of its neighbours' cells while those travel.
  /// That needs more and smaller tasks. Default: if a message takes longer than 20 us. Messages
  /// longer than two slots (TESSERA_SLOT_BYTES) are always awaited first. TESSERA_OVERLAP also
  /// holds for the steps of operations, such as products, where it is 1 unless it is set.
  std::optional<bool> overlap = {};
  /// Whether a GPU keeps the launches of one or several blocks as a graph where that pays, so that
  /// the host submits them with one launch.
  bool graphs = true;

  /// Throws: UsageError if a number is negative.
  void check() const;
  /// These options, overridden by the environment.
  /// Throws: ConfigError for a variable that cannot be read.
  [[nodiscard]] LoopOptions with_environment() const;
};

/// How the steps of a loop are run.
enum class LoopMode {
  plainly,   ///< the body runs in every step
  replayed,  ///< the recorded statements run one by one, without the body or plan look-ups
  in_blocks,
};

/// How a loop is run, as a value that tests read and people print.
struct LoopExplanation {
  SourceLocation location;
  Explanations statements;  ///< of one step, as the plain loop runs them
  std::int64_t period = 1;  ///< steps after which the arrays have their first roles again
  LoopMode mode = LoopMode::plainly;
  /// For people: the reason why the steps are not run in blocks. Empty if they are, and before the
  /// first run.
  std::string fallback_reason;
  std::int64_t depth = 0;  ///< steps of a block, between two exchanges; 0 before it ran
  Shape tile;              ///< cells along each dimension; 0: the whole extent
  std::int64_t parts = 1;  ///< of a step, each of which the tiles go through: see docs/guide/loops
  /// Tasks of a block, on the device of this process that has the most. A task is a kernel call for
  /// the cells of a statement in one step, or for the cells carried between buffers; tiles are not
  /// counted.
  std::int64_t tasks = 0;
  std::int64_t early_tasks = 0;  ///< those of them that run while messages travel
  std::int64_t messages = 0;     ///< of a block, sent by this process's devices
  std::int64_t bytes = 0;        ///< of a block, sent by this process's devices
  /// On GPUs, in the last run: the number of blocks that one graph contains; with messages, a graph
  /// contains the work that follows them. 0: no graphs.
  std::int64_t graph_blocks = 0;
  std::int64_t graphs = 0;            ///< graphs made so far by the device with the most; they are
                                      ///< reused
  std::string graph_fallback_reason;  ///< for people: why there are no graphs; empty on the host
  std::string bottleneck;             ///< "memory", "compute" or "latency"
  Caches caches;                      ///< used for choosing tiles: the smallest of any process
  double message_seconds = 0;         ///< an exchange between neighbours, as measured
  double predicted_seconds = 0;       ///< a step
  double measured_seconds = 0;        ///< a step of the last run in blocks; 0 if there was none

  friend std::ostream& operator<<(std::ostream& out, LoopExplanation const& explanation);
};

/// A loop's body, recorded when it first runs.
///
/// The body runs for real in two steps, which must do the same, except that arrays may swap their
/// places. From then on the devices run its statements by themselves, many steps at a time, and
/// every cell gets the same bits as in a plain loop. If the body contains only statements on
/// arrays, the difference is not observable. A later run begins with one or a few steps that run
/// for real, to check that the body still does the same. All objects that the body names must
/// outlive the program.
///
/// A body may run other programs, whose steps are then part of its own. It must not run, replace or
/// destroy its own program.
///
/// Ranks:   collective.
/// Threads: the thread that made the Runtime.
class Program {
 public:
  /// Throws: UsageError for impossible options.
  Program(std::function<void(Step)> body, LoopOptions const& options,
          SourceLocation const& location);
  /// Inside the program's own body: the body's step is completed, then `run` throws UsageError.
  ~Program();
  Program(Program&& other) noexcept;
  /// Of the program that is replaced, as the destructor.
  Program& operator=(Program&& other) noexcept;
  Program(Program const&) = delete;
  Program& operator=(Program const&) = delete;

  /// Runs `steps` steps and returns when the devices have completed them.
  /// Throws: UsageError if steps differ, or if the body does something that a replay cannot do:
  ///         alike on every process, with the place and the remedy, after the first two steps have
  ///         run; UsageError if the body runs its own program, before that run does anything, and
  ///         the program can be run again afterwards; UsageError if the body has destroyed or
  ///         replaced its own program, after that step, or if this one was moved from; ConfigError
  ///         for TESSERA_DEPTH or TESSERA_TILE; and the exceptions of statements.
  void run(std::int64_t steps);

  /// The steps that were run so far: the number of the next one.
  [[nodiscard]] std::int64_t steps() const;
  /// The statements of a step; 0 before it was recorded.
  [[nodiscard]] std::int64_t statements() const;
  /// How the steps are run. Ranks: local.
  [[nodiscard]] LoopExplanation explain() const;

 private:
  struct Impl;
  [[nodiscard]] Impl& impl() const;
  void abandon() noexcept;

  std::shared_ptr<Impl> impl_;  ///< kept by `run`, since the body may destroy the program
};

namespace detail {

/// A loop's body: a function of nothing or of the step's number.
template <class F>
concept LoopFunction = std::invocable<F&, Step> || std::invocable<F&>;

template <LoopFunction F>
[[nodiscard]] std::function<void(Step)> body_of(F&& body) {
  if constexpr (std::invocable<F&, Step>)
    return std::forward<F>(body);
  else
    return [kept = std::forward<F>(body)](Step) mutable { kept(); };
}

}  // namespace detail

/// Makes a program that can run `body`, a function of nothing or of a Step, for any number of
/// steps. Nothing runs yet.
///
/// Example: auto heat = record([&] { u(inner) = 0.8 * u(inner) + 0.1 * (u(left) + u(right)); });
///          heat.run(1000);
template <detail::LoopFunction Body>
[[nodiscard]] Program record(Body&& body, LoopOptions const& options = {},
                             std::source_location at = std::source_location::current()) {
  return {detail::body_of(std::forward<Body>(body)), options, at};
}

/// Runs `body` for `steps` steps, as `record(body).run(steps)`.
template <detail::LoopFunction Body>
void iterate(std::int64_t steps, Body&& body, LoopOptions const& options = {},
             std::source_location at = std::source_location::current()) {
  record(std::forward<Body>(body), options, at).run(steps);
}

/// The number of steps between two calls of another function.
struct Interval {
  std::int64_t steps = 1;
};
/// Example: iterate(1000, body, every(100), [&](std::int64_t done) { … });
[[nodiscard]] constexpr Interval every(std::int64_t steps) {
  return {steps};
}

/// The same, and calls `report(done)`, with the number of steps done so far, after every interval
/// and after the last step. `report` may do what the body may not: read cells, print, save.
template <detail::LoopFunction Body, std::invocable<std::int64_t> Report>
void iterate(std::int64_t steps, Body&& body, Interval interval, Report&& report,
             LoopOptions const& options = {},
             std::source_location at = std::source_location::current()) {
  detail::check_steps(steps);
  detail::check_interval(interval.steps);
  auto program = record(std::forward<Body>(body), options, at);
  while (program.steps() < steps) {
    program.run(std::min(interval.steps, steps - program.steps()));
    report(program.steps());
  }
}

/// Runs `body` until `is_done()`, which is called after every interval, or until `most` steps are
/// done; returns the number of steps done. `is_done` may read values of reductions, as in `sum(r *
/// r) < tolerance`, which are the same on every process.
template <detail::LoopFunction Body, std::predicate Done>
std::int64_t iterate_until(std::int64_t most, Body&& body, Interval interval, Done&& is_done,
                           LoopOptions const& options = {},
                           std::source_location at = std::source_location::current()) {
  detail::check_steps(most);
  detail::check_interval(interval.steps);
  auto program = record(std::forward<Body>(body), options, at);
  while (program.steps() < most) {
    program.run(std::min(interval.steps, most - program.steps()));
    if (is_done()) break;
  }
  return program.steps();
}

}  // namespace tessera
