#include "src/runtime/statement_planner.hpp"

#include "src/base/detail.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/statement/lowering/lower_statement.hpp"
#include "src/statement/operations/lower_operation.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

namespace {

// Adds what the plan of a statement does not depend on.
std::uint64_t with_arrays(std::uint64_t hash, Statement const& statement) {
  if (statement.target != nullptr) hash = fold(hash, statement.target->number());
  for (auto const& operand : statement.operands) hash = fold(hash, operand.array->number());
  for (auto const& scalar : statement.scalars) hash = fold(hash, ~scalar->number());
  return hash;
}

}  // namespace

void StatementPlanner::describe(Operation const& operation) {
  auto const& statements = operation.statements;
  key_.describe({statements.begin(), statements.end()}, operation.steps->hash());
}

std::uint64_t StatementPlanner::hash_of(Statement const& statement) const {
  return scramble(with_arrays(fold(statement.type_hash, key_.hash()), statement));
}

std::uint64_t StatementPlanner::hash_of(Operation const& operation) const {
  auto hash = key_.hash();
  for (auto const* statement : operation.statements)
    hash = with_arrays(fold(hash, statement->type_hash), *statement);
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
  auto plan =
      connect(lower_statement(statement, modes, local_devices(), forwarding_), tag, messages_);
  devices_.make_room(*plan);
  return cache_.insert(key_, std::move(plan));
}

CompiledOperation const& StatementPlanner::plan_for(Operation const& operation,
                                                    StatementTag const& tag) {
  if (auto const* found = cache_.find_operation(key_)) return *found;
  profiler_.count_plan();
  auto lowered = lower_operation(operation, local_devices(), forwarding_);
  auto plan = std::make_unique<CompiledOperation>();
  plan->device_bytes = lowered.device_bytes;
  for (auto& step : lowered.steps) {
    plan->steps.push_back(
        {step.statement, step.place, connect(std::move(step.plan), tag, messages_)});
    auto const& connected = *plan->steps.back().plan;
    plan->messages += connected.messages;
    plan->bytes += connected.bytes;
    devices_.make_room(connected);
  }
  return cache_.insert(key_, std::move(plan));
}

}  // namespace tessera
