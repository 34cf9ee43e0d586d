#pragma once
/// @file
/// Records one step of a loop's body, and compares it with the next.

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "src/runtime/listener.hpp"
#include "src/statement/loop/recorded_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// The record of a step.
struct RecordedStep {
  std::vector<RecordedStatement> statements;
  std::vector<std::shared_ptr<ArrayModel>> moves;  ///< arrays moved between handles, in order
  bool sums_earlier_partials = false;  ///< reads a partial array that an earlier step has made
};

/// Records the statements of one step during its lifetime.
class Recorder : public Listener {
 public:
  /// `step`: the number of the step; `loop`: where the loop stands, for messages;
  /// `newest_before_loop`: the number of the newest array when the recording began.
  Recorder(std::int64_t step, SourceLocation const& loop, std::uint64_t newest_before_loop);

  void note(Statement const& statement) override;
  void note(Operation const& operation) override;
  void note(ReplayedSteps const& /*steps*/) override {}  // loops inside run their bodies
  /// The value of an array that is older than the loop is computed once, so it is no part of a
  /// step.
  [[nodiscard]] bool note(KeptValue const& kept) override;
  void note_move(std::shared_ptr<ArrayModel> const& array) noexcept override;
  /// Throws: UsageError.
  void note_host_access() override;
  [[nodiscard]] std::string_view reason_to_run_bodies() const override {
    return "it is part of a body that is being recorded";
  }

  [[nodiscard]] RecordedStep take() { return std::move(step_); }

 private:
  std::int64_t number_;
  SourceLocation loop_;
  std::uint64_t newest_before_loop_;
  std::uint64_t newest_before_step_;
  RecordedStep step_;
};

/// Finds the names by comparing two steps.
/// Throws: UsageError, with the place of the first statement that differs and what to do.
/// Ranks:  collective. Sets the step numbers of the kernels in `first`.
[[nodiscard]] ArrayBindings compare_steps(RecordedStep& first, RecordedStep const& second,
                                          SourceLocation const& loop);

/// True if a step ran the statements of the first one, with its numbers and slices, whatever their
/// arrays and scalars are, and read no partial array that an earlier step has made.
[[nodiscard]] bool runs_the_same(RecordedStep const& first, RecordedStep const& step);

/// Shows which positions of two consecutive steps name the same array or scalar: for each position
/// the first one that names it. Steps with equal patterns move their arrays alike.
[[nodiscard]] std::vector<std::size_t> pattern_of(RecordedStep const& step,
                                                  RecordedStep const& next);

/// True if a step equals the first one, with the arrays and scalars in their current roles: role a
/// of the first step stands for arrays[called[a]].
[[nodiscard]] bool is_same_step(RecordedStep const& first, RecordedStep const& step,
                                ArrayBindings const& bindings, std::int64_t steps_later);

/// The roles `steps` steps later: array a of the first step then has role result[a].
[[nodiscard]] std::vector<std::size_t> renamed(std::vector<std::size_t> const& next,
                                               std::int64_t steps);

}  // namespace tessera
