#include "src/program/statement_replay.hpp"

#include <algorithm>

#include "tessera/detail/runtime/submit.hpp"

#include "src/statement/loop/loop_analysis.hpp"

namespace tessera {

StatementReplay::StatementReplay(std::vector<RecordedStatement> const& step, Names const& names)
    : names_(names) {
  for (auto const& recorded : step) add(recorded);
}

void StatementReplay::add(RecordedStatement const& recorded) {
  auto& entry = entries_.emplace_back();
  entry.statement = recorded.statement;
  entry.statement.kernel = recorded.kernel.data();
  entry.step = recorded.step;
  entry.has_fixed_step = recorded.has_fixed_step;
  auto const& statement = entry.statement;
  if (statement.target != nullptr) entry.target = number_of(names_, statement.target);
  for (auto const& leaf : statement.leaves) entry.leaves.push_back(number_of(names_, leaf.array));
  for (auto const& scalar : statement.scalars) entry.scalars.push_back(number_of_scalar(scalar));
  if (statement.is_reduction()) entry.result = number_of_scalar(statement.result);
}

void StatementReplay::run(std::int64_t steps, std::int64_t later, std::int64_t number) {
  arrays_ = renamed(names_.next_array, later % names_.period);
  scalars_ = renamed(names_.next_scalar, later % names_.period);
  for (std::int64_t step = 0; step < steps; ++step) {
    run_step(number + step);
    for (auto& name : arrays_) name = names_.next_array[name];
    for (auto& name : scalars_) name = names_.next_scalar[name];
  }
}

void StatementReplay::run_step(std::int64_t number) {
  for (auto& entry : entries_) {
    auto& statement = entry.statement;
    if (statement.step) statement.step = entry.has_fixed_step ? entry.step : number + entry.step;
    if (statement.target != nullptr) statement.target = names_.arrays[arrays_[entry.target]];
    for (std::size_t l = 0; l < entry.leaves.size(); ++l)
      statement.leaves[l].array = names_.arrays[arrays_[entry.leaves[l]]];
    for (std::size_t s = 0; s < entry.scalars.size(); ++s)
      statement.scalars[s] = names_.scalars[scalars_[entry.scalars[s]]];
    if (statement.is_reduction()) statement.result = names_.scalars[scalars_[entry.result]];
    detail::submit(statement);
  }
}

std::size_t StatementReplay::number_of_scalar(std::shared_ptr<ScalarModel> const& scalar) const {
  return static_cast<std::size_t>(std::find(names_.scalars.begin(), names_.scalars.end(), scalar) -
                                  names_.scalars.begin());
}

}  // namespace tessera
