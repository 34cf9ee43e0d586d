#pragma once
/// @file
/// What one step of a loop's body did, and whether the next one did the same.

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/exchange/engine.hpp"

namespace tessera {

/// A statement with a kernel of its own.
struct RecordedStatement {
  Statement statement;
  std::vector<std::byte> kernel;
  std::uint64_t numbers = 0;  ///< a hash of those in the kernel
  /// The step that its kernel is told, from the loop's own on; of a loop inside the body, which
  /// runs alike in every step, that loop's number.
  std::int64_t step = 0;
  bool has_fixed_step = false;
};

/// A statement for people: "the sum at heat.cpp:41"; of a whole array no place is known.
[[nodiscard]] std::string name_of(Statement const& statement);

/// What a step did.
struct RecordedStep {
  std::vector<RecordedStatement> statements;
  std::vector<std::shared_ptr<ArrayState>> moves;  ///< arrays that handles handed on, in order
};

/// Takes down the statements of one step while it lives.
class Recorder : public Watcher {
 public:
  /// `step`: the number of the step; `loop`: where the loop stands, for messages.
  Recorder(std::int64_t step, Place const& loop);
  ~Recorder() override;

  void note(Statement const& statement) override;
  void note_move(std::shared_ptr<ArrayState> const& array) noexcept override;
  /// Throws: UsageError.
  void note_host_access() override;

  [[nodiscard]] RecordedStep take() { return std::move(step_); }

 private:
  std::int64_t number_;
  Place loop_;
  RecordedStep step_;
  Watcher* before_;
};

/// The arrays and scalars of a loop, as its first step calls them, and what they turn into.
struct Names {
  std::vector<std::shared_ptr<ArrayState>> arrays;
  std::vector<std::size_t>
      next_array;  ///< what the step after calls a is what this one calls next[a]
  std::vector<std::shared_ptr<ScalarState>> scalars;
  std::vector<std::size_t> next_scalar;
  std::int64_t period = 1;  ///< after so many steps everything is called as before
  /// For people: why the body has to run in every step; empty if it need not.
  std::string obstacle;
  /// The body makes arrays or scalars, or moves them: a step that runs for real has new ones.
  bool makes_new = false;
};

/// Finds the names by comparing two steps.
/// Throws: UsageError, with the place of the first statement that differs and what to do.
/// Ranks:  collective. Tells the statements of `first` which step their kernels are told.
[[nodiscard]] Names compare_steps(RecordedStep& first, RecordedStep const& second,
                                  Place const& loop);

/// True if a step ran the statements of the first one, with its numbers and slices, whatever their
/// arrays and scalars are.
[[nodiscard]] bool runs_the_same(RecordedStep const& first, RecordedStep const& step);

/// Which places of two steps in a row name the same array or scalar: for each place the first one
/// that does. Steps whose patterns are equal hand their arrays on alike.
[[nodiscard]] std::vector<std::size_t> pattern_of(RecordedStep const& step,
                                                  RecordedStep const& next);

/// True if a step did what the first one did, with arrays and scalars as they are called by then:
/// the first step's name a stands for arrays[called[a]].
[[nodiscard]] bool is_same_step(RecordedStep const& first, RecordedStep const& step,
                                Names const& names, std::int64_t steps_later);

/// The names `steps` steps later: array a of the first step is then called result[a].
[[nodiscard]] std::vector<std::size_t> renamed(std::vector<std::size_t> const& next,
                                               std::int64_t steps);

}  // namespace tessera
