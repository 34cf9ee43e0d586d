#pragma once
/// @file
/// What the program's statements cost: running totals, explanations, and, where the environment
/// asks for them, a report and a trace.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tessera/plan/explanation.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/execution/device_task.hpp"
#include "src/execution/gpu_channels/gpu_routes.hpp"
#include "src/execution/loop.hpp"
#include "src/runtime/profiler/observer.hpp"
#include "src/statement/statement.hpp"
#include "src/transport/protocol/refused.hpp"

namespace tessera {

/// Threads: the caller's, except for the phase timers.
class Profiler {
 public:
  /// Replaces bytes by those of all processes combined.
  using Combine = std::function<void(std::span<std::byte> bytes, CombineBytes how)>;

  Profiler(ObserverOptions const& options, Job const& job);

  [[nodiscard]] Counters totals() const;
  /// Appends an explanation of each following statement to `sink`; null switches this off. Returns
  /// the previous sink.
  Explanations* explain_into(Explanations* sink);

  /// True where the environment asks for a report or a trace.
  [[nodiscard]] bool observes() const { return observer_ != nullptr; }
  /// Notes that a statement, an operation, or blocks of a loop, are about to run. Returns the row
  /// for their times.
  [[nodiscard]] std::size_t row_of(Statement const& statement, CompiledStatement const& plan);
  [[nodiscard]] std::size_t row_of(Operation const& operation, CompiledOperation const& plan);
  [[nodiscard]] std::size_t row_of(LoopRun const& run);
  /// Returns the timer of a device, by its local index; null if nothing is observed.
  [[nodiscard]] PhaseTimer* timer(std::size_t device);

  /// Adds to the totals: a plan that was made, a statement, an operation as one statement, blocks
  /// of a loop.
  void count_plan() { ++totals_.plans_made; }
  void count(Statement const& statement, CompiledStatement const& plan);
  void count(Operation const& operation, CompiledOperation const& plan);
  void count(LoopRun const& run);

  /// Writes the trace, and the report of all processes. No worker may be busy.
  /// Ranks: collective, if there is a report.
  void show(Job const& job, Refused const& refused, Combine const& combine) const;
  /// Writes those of this process alone, where the others cannot be asked.
  void show_alone(Job const& job, Refused const& refused) const;

 private:
  std::unique_ptr<Observer> observer_;
  Counters totals_;  ///< without routes
  RouteBytes bytes_{};
  Explanations* sink_ = nullptr;
};

}  // namespace tessera
