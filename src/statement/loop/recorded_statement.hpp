#pragma once
/// @file
/// The statements of a loop's step, and what its arrays and scalars turn into from step to step.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/statement/operations/operation.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// A statement with a kernel of its own.
struct RecordedStatement {
  Statement statement;
  std::vector<std::byte> kernel;
  std::uint64_t numbers = 0;  ///< a hash of those in the kernel
  /// The step number of its kernel, relative to the loop's own; for a loop inside the body, which
  /// runs alike in every step, that loop's number.
  std::int64_t step = 0;
  bool has_fixed_step = false;
  /// The operation that it is part of, the same for all statements of one, which follow each other;
  /// null if it was submitted by itself.
  std::shared_ptr<OperationCall const> operation;
  /// The loop's step in which it was recorded: the slices by the number of the step are those of
  /// that step. Of an inner loop's they are the same in every step, and AxisMap::per_step is 0.
  std::int64_t recorded_in = 0;
};

/// Calls visit(axis, extent) for each fixed dimension of the arrays that a statement sees, and of
/// what it writes.
template <class Visit>
void visit_fixed_axes(Statement& statement, Visit const& visit) {
  auto const visit_map = [&](AffineMap& map, Layout const& layout) {
    for (std::size_t d = 0; d < map.rank(); ++d)
      if (map.axes[d].from == AxisMap::fixed) visit(map.axes[d], layout.shape()[d]);
  };
  visit_map(statement.work.map, *statement.work.layout);
  for (auto& operand : statement.operands) visit_map(operand.access.map, *operand.array->layout());
}

/// A statement for people: "the sum at heat.cpp:41"; a statement on whole arrays has no known
/// place.
[[nodiscard]] std::string name_of(Statement const& statement);

/// The arrays and scalars of a loop, by their roles in its first step, and their successors.
struct ArrayBindings {
  std::vector<std::shared_ptr<ArrayModel>> arrays;
  std::vector<std::size_t> next_array;  ///< role a of the next step is role next[a] of this one
  std::vector<std::shared_ptr<ScalarModel>> scalars;
  std::vector<std::size_t> next_scalar;
  std::int64_t period = 1;  ///< steps until all roles are as before
  /// For people: the reason why the body must run in every step; empty if it need not.
  std::string fallback_reason;
  /// The body makes arrays or scalars, or moves them, so a step that runs for real has new ones.
  bool makes_new = false;
};

/// The place of an array, or of a scalar, among the names.
[[nodiscard]] std::size_t number_of(ArrayBindings const& bindings,
                                    std::shared_ptr<ArrayModel> const& array);
[[nodiscard]] std::size_t number_of(ArrayBindings const& bindings,
                                    std::shared_ptr<ScalarModel> const& scalar);

}  // namespace tessera
