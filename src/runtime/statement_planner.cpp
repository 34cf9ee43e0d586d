#include "src/runtime/statement_planner.hpp"

#include "src/base/detail.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/statement/lowering/lower_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

std::uint64_t StatementPlanner::hash_of(Statement const& statement) const {
  auto hash = fold(statement.type_hash, key_.hash());
  if (statement.target != nullptr) hash = fold(hash, statement.target->number());
  for (auto const& operand : statement.operands) hash = fold(hash, operand.array->number());
  for (auto const& scalar : statement.scalars) hash = fold(hash, ~scalar->number());
  return scramble(hash);
}

std::shared_ptr<CompiledStatement> const& StatementPlanner::plan_for(Statement const& statement,
                                                                     StatementTag const& tag) {
  if (auto const* found = cache_.find(key_)) return *found;
  auto const modes = choose_modes(statement);
  if (auto const growth = growth_for(statement, modes); !growth.empty()) {
    devices_.synchronize();
    for (auto const& [operand, widths] : growth)
      storage_of(*statement.operands[operand].array).grow(widths);
    key_.describe(statement);
  }
  profiler_.count_plan();
  auto plan = connect(lower_statement(statement, modes, {job_.first_local(), job_.local_count()}),
                      tag, messages_);
  devices_.make_room(*plan);
  return cache_.insert(key_, std::move(plan));
}

}  // namespace tessera
