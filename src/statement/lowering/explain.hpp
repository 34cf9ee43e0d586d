#pragma once
/// @file
/// What a plan sends, and why, in words.

#include "src/statement/lowering/lower_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// What a lowered plan sends for this statement. By which routes is known when its channels are
/// open.
[[nodiscard]] Explanation explain(LoweredStatement const& lowered, Statement const& statement,
                                  OperandModes const& modes);

/// A plan's explanation for another statement that it serves.
[[nodiscard]] Explanation explanation_of(StatementPlan const& plan, Statement const& statement);

}  // namespace tessera
