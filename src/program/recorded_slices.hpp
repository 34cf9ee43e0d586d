#pragma once
/// @file
/// The slices of recorded statements, some of which follow the number of the step.

#include "src/statement/loop/recorded_statement.hpp"

namespace tessera {

/// Determines, from the statement at the same place of the second step, which slices of `one`
/// follow the loop's own step; those by the step of an inner loop are the same in every step.
void find_slices(RecordedStatement& one, RecordedStatement const& second);

/// True if an integer of a slice is negative in the first of two steps, and so counts from the end,
/// and not in the second.
[[nodiscard]] bool counts_from_end(RecordedStatement const& first, RecordedStatement const& second);

/// True if two statements see the same cells of their arrays, each in its own step.
[[nodiscard]] bool shows_same_cells(RecordedStatement const& one, RecordedStatement const& other);

}  // namespace tessera
