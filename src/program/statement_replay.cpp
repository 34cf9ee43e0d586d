#include "src/program/statement_replay.hpp"

#include "src/runtime/submission.hpp"
#include "src/statement/loop/loop_analysis.hpp"

namespace tessera {

StatementReplay::StatementReplay(std::vector<RecordedStatement> const& step,
                                 ArrayBindings const& bindings)
    : bindings_(bindings) {
  for (auto const& recorded : step) add(recorded);
}

void StatementReplay::add(RecordedStatement const& recorded) {
  auto& entry = entries_.emplace_back();
  entry.statement = recorded.statement;
  entry.statement.kernel = recorded.kernel.data();
  entry.moved_to = recorded.recorded_in;
  visit_fixed_axes(entry.statement, [&](AxisMap const& axis, std::int64_t) {
    entry.follows_steps = entry.follows_steps || axis.per_step != 0;
  });
  entry.step = recorded.step;
  entry.has_fixed_step = recorded.has_fixed_step;
  entry.operation = recorded.operation;
  auto const& statement = entry.statement;
  if (statement.target != nullptr) entry.target = number_of(bindings_, statement.target);
  for (auto const& operand : statement.operands)
    entry.operands.push_back(number_of(bindings_, operand.array));
  for (auto const& scalar : statement.scalars)
    entry.scalars.push_back(number_of(bindings_, scalar));
  if (statement.is_reduction()) entry.result = number_of(bindings_, statement.result);
}

void StatementReplay::run(std::int64_t steps, std::int64_t later, std::int64_t number) {
  arrays_ = renamed(bindings_.next_array, later % bindings_.period);
  scalars_ = renamed(bindings_.next_scalar, later % bindings_.period);
  for (std::int64_t step = 0; step < steps; ++step) {
    run_step(number + step);
    for (auto& name : arrays_) name = bindings_.next_array[name];
    for (auto& name : scalars_) name = bindings_.next_scalar[name];
  }
}

void StatementReplay::run_step(std::int64_t number) {
  for (auto& entry : entries_) bind(entry, number);
  for (std::size_t e = 0; e < entries_.size();) e += submit_from(e);
}

void StatementReplay::bind(Entry& entry, std::int64_t number) {
  auto& statement = entry.statement;
  if (entry.follows_steps) {
    visit_fixed_axes(statement, [&](AxisMap& axis, std::int64_t) {
      axis.offset += axis.per_step * (number - entry.moved_to);
    });
    entry.moved_to = number;
  }
  if (statement.step) statement.step = entry.has_fixed_step ? entry.step : number + entry.step;
  if (statement.target != nullptr) statement.target = bindings_.arrays[arrays_[entry.target]];
  for (std::size_t l = 0; l < entry.operands.size(); ++l)
    statement.operands[l].array = bindings_.arrays[arrays_[entry.operands[l]]];
  for (std::size_t s = 0; s < entry.scalars.size(); ++s)
    statement.scalars[s] = bindings_.scalars[scalars_[entry.scalars[s]]];
  if (statement.is_reduction()) statement.result = bindings_.scalars[scalars_[entry.result]];
}

std::size_t StatementReplay::submit_from(std::size_t first) {
  auto const& call = entries_[first].operation;
  if (call == nullptr) {
    detail::replay(entries_[first].statement);
    return 1;
  }
  Operation operation{*call, {}};
  for (auto e = first; e < entries_.size() && entries_[e].operation == call; ++e)
    operation.statements.push_back(&entries_[e].statement);
  detail::replay(operation);
  return operation.statements.size();
}

}  // namespace tessera
