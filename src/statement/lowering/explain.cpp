#include "src/statement/lowering/explain.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "src/base/text.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

std::string reason_for(Statement const& statement, OperandModes const& modes, std::size_t operand) {
  auto const& access = statement.operands[operand].access;
  if (modes.in_place[operand])
    return text("reads ", access, " with ghost cells ", modes.widths[operand]);
  auto const& array = *statement.operands[operand].array;
  if (is_moved(statement) || array.is_alias())
    return text("reads ", access, ", which the program moves");
  if (array.is_pinned())
    return text("reads ", access, " of an array that is pinned and so has no ghost cells");
  return text("reads ", access, ", which ghost cells around the shards of ", *array.layout(),
              " cannot give");
}

std::int64_t bytes_of(std::vector<MessagePlan> const& messages, std::size_t operand) {
  std::int64_t bytes = 0;
  for (auto const& message : messages)
    for (auto const& block : message.blocks)
      if (block.operand == operand) bytes += block.bytes;
  return bytes;
}

Communication explain_operand(LoweredStatement const& lowered, Statement const& statement,
                              OperandModes const& modes, std::size_t operand) {
  Communication result;
  auto const& array = *statement.operands[operand].array;
  result.array = describe(array);
  for (auto const& device : lowered.devices) {
    result.bytes += bytes_of(device.sends, operand);
    result.forwarded_bytes += bytes_of(device.forwarded.sends, operand);
  }
  result.bytes += result.forwarded_bytes;
  result.cells = result.bytes / array.element_bytes();
  if (!modes.in_place[operand])
    result.cause = Communication::Cause::gather;
  else if (!(modes.widths[operand] == GhostWidths::none(array.layout()->rank())))
    result.cause = Communication::Cause::halo;
  result.reason = reason_for(statement, modes, operand);
  return result;
}

std::string explain_writes(LoweredStatement const& lowered, Statement const& statement) {
  if (statement.target == nullptr) return {};
  return lowered.overwrites ? "to the second buffer or a temporary" : "in place";
}

}  // namespace

Explanation explain(LoweredStatement const& lowered, Statement const& statement,
                    OperandModes const& modes) {
  Explanation explanation;
  explanation.location = statement.location;
  explanation.kind = statement.kind;
  explanation.messages = lowered.messages;
  explanation.bytes = lowered.bytes;
  for (std::size_t l = 0; l < statement.operands.size(); ++l)
    explanation.reads.push_back(explain_operand(lowered, statement, modes, l));
  explanation.writes = explain_writes(lowered, statement);
  return explanation;
}

Explanation explanation_of(StatementPlan const& plan, Statement const& statement) {
  auto explanation = plan.explanation;
  explanation.location = statement.location;
  explanation.kind = statement.kind;
  for (std::size_t l = 0; l < statement.operands.size(); ++l)
    explanation.reads[l].array = describe(*statement.operands[l].array);
  if (statement.choice != nullptr) explanation.choice = *statement.choice;
  return explanation;
}

}  // namespace tessera
