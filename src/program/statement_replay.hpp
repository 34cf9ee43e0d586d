#pragma once
/// @file
/// Replays the recorded statements of a step one by one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/program/recording.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// The statements of a step, with their arrays and scalars bound anew for each step.
class StatementReplay {
 public:
  /// Lifetime: both outlive this.
  StatementReplay(std::vector<RecordedStatement> const& step, ArrayBindings const& bindings);

  /// Runs `steps` steps. The first is `later` steps after the first recorded one and has the number
  /// `number`. A step allocates nothing.
  void run(std::int64_t steps, std::int64_t later, std::int64_t number);

 private:
  struct Entry {
    Statement statement;
    bool follows_steps = false;  ///< some of its slices do
    std::int64_t moved_to = 0;   ///< the step of its slices
    std::int64_t step = 0;
    bool has_fixed_step = false;
    std::size_t target = 0;
    std::vector<std::size_t> operands;
    std::vector<std::size_t> scalars;
    std::size_t result = 0;
    std::shared_ptr<OperationCall const> operation;  ///< that the statement is part of
  };

  void add(RecordedStatement const& recorded);
  void run_step(std::int64_t number);
  void bind(Entry& entry, std::int64_t number);
  /// Submits the statements from the first on that belong together. Returns how many they are.
  std::size_t submit_from(std::size_t first);

  ArrayBindings const& bindings_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> arrays_;  ///< the arrays in the first step's roles in the current step
  std::vector<std::size_t> scalars_;
};

}  // namespace tessera
