#include "src/statement/lowering/lower_statement.hpp"

#include <utility>

#include "src/plan/access.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/lowering/explain.hpp"
#include "src/statement/lowering/operand.hpp"
#include "src/statement/lowering/plan_bytes.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

bool needs_ghosts(GhostWidths const& widths) {
  return !(widths == GhostWidths::none(widths.below.size()));
}

// True if each cell of the only operand is copied to one place of another array.
bool lands_in_target(Statement const& statement) {
  if (statement.copied_bytes == 0 || statement.operands.size() != 1) return false;
  auto const& [array, access, constants_offset] = statement.operands[0];
  if (array == statement.target || statement.writes_slabs()) return false;
  InlineVector<int, max_rank> uses(statement.work.indices.rank(), 0);
  for (std::size_t d = 0; d < access.rank(); ++d) {
    auto const& boundary = access.boundaries[d];
    if (boundary.any() && boundary.below != BoundaryKind::periodic) return false;
    auto const from = access.map.axes[d].from;
    if (from != AxisMap::fixed) ++uses[static_cast<std::size_t>(from)];
  }
  return std::ranges::all_of(uses, [](int count) { return count == 1; });
}

std::vector<std::shared_ptr<Fill const>> fills_of(StatementUse const& use) {
  auto const& statement = use.statement;
  std::vector<std::shared_ptr<Fill const>> fills(statement.operands.size());
  for (std::size_t l = 0; l < statement.operands.size(); ++l) {
    if (use.operands[l].array != l) continue;
    std::vector<Access> accesses;
    for (std::size_t k = l; k < statement.operands.size(); ++k)
      if (use.operands[k].array == l && use.modes.in_place[k] && needs_ghosts(use.modes.widths[k]))
        accesses.push_back(statement.operands[k].access);
    fills[l] = Fill::make(std::move(accesses), statement.work);
  }
  return fills;
}

}  // namespace

bool is_moved(Statement const& statement) {
  return statement.purpose == detail::Purpose::transfer && statement.copied_bytes != 0;
}

OperandModes choose_modes(Statement const& statement) {
  OperandModes modes;
  for (auto const& operand : statement.operands) {
    auto widths = operand.array->is_pinned()
                      ? std::nullopt
                      : ghost_widths_for(*operand.array->layout(), operand.access, statement.work);
    if (widths && needs_ghosts(*widths) && is_moved(statement)) widths.reset();
    modes.in_place.push_back(widths.has_value());
    modes.widths.push_back(widths.value_or(GhostWidths::none(operand.access.rank())));
  }
  return modes;
}

std::vector<GhostGrowth> growth_for(Statement const& statement, OperandModes const& modes) {
  std::vector<GhostGrowth> growth;
  for (std::size_t l = 0; l < statement.operands.size(); ++l) {
    auto const& array = statement.operands[l].array;
    if (first_operand_of(statement, l) != l) continue;
    auto widths = modes.widths[l];
    for (std::size_t k = l; k < statement.operands.size(); ++k)
      if (statement.operands[k].array == array) widths = widths.merged(modes.widths[k]);
    if (!array->widths().covers(widths)) growth.push_back({l, widths});
  }
  return growth;
}

StatementUse::StatementUse(Statement const& used, OperandModes const& chosen)
    : statement(used), modes(chosen) {
  for (std::size_t l = 0; l < statement.operands.size(); ++l) {
    auto const& operand = statement.operands[l];
    operands.push_back({operand.array->layout(), operand.access, first_operand_of(statement, l),
                        modes.in_place[l], &operand.array->halo_validity(), reads_overwritten(l),
                        !modes.in_place[l] && lands_in_target(statement),
                        operand.array->element_bytes()});
  }
}

bool StatementUse::reads_overwritten(std::size_t operand) const {
  auto const& request = statement.operands[operand];
  return request.array == statement.target &&
         could_read_overwritten(request.access, statement.work.map, statement.work.indices);
}

LoweredStatement lower_statement(Statement const& statement, OperandModes const& modes,
                                 DeviceSpan const& devices, Forwarding const& forwarding) {
  StatementUse const use(statement, modes);
  LoweredStatement lowered;
  for (std::int64_t i = 0; i < devices.count; ++i)
    lowered.devices.push_back(lower_device(use, DeviceId{devices.first.value() + i}, forwarding));
  for (std::size_t l = 0; l < use.operands.size(); ++l)
    lowered.overwrites |= modes.in_place[l] && use.reads_overwritten(l);
  lowered.fills = fills_of(use);
  for (auto const& device : lowered.devices)
    lowered.gathered.insert(device.gathered.begin(), device.gathered.end());
  note_totals(lowered);
  lowered.device_bytes = estimated_plan_bytes(statement);
  lowered.keeps.push_back(statement.work.layout);
  for (auto const& operand : statement.operands) lowered.keeps.push_back(operand.array->layout());
  lowered.explanation = explain(lowered, statement, modes);
  if (lowered.explanation.has(Communication::Cause::gather)) lowered.gathers = -1;
  return lowered;
}

void note_totals(LoweredStatement& lowered) {
  for (auto const& device : lowered.devices)
    for (auto const* sends : {&device.sends, &device.forwarded.sends}) {
      lowered.messages += std::ssize(*sends);
      for (auto const& message : *sends) lowered.bytes += message.bytes;
    }
}

}  // namespace tessera
