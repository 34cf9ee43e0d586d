#include "src/statement/lowering/lower_statement.hpp"

#include <utility>

#include "src/plan/access.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/lowering/explain.hpp"
#include "src/statement/lowering/operand.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

bool needs_ghosts(GhostWidths const& widths) {
  return !(widths == GhostWidths::none(widths.below.size()));
}

std::vector<std::shared_ptr<Fill const>> fills_of(StatementUse const& use) {
  auto const& statement = use.statement;
  std::vector<std::shared_ptr<Fill const>> fills(statement.leaves.size());
  for (std::size_t l = 0; l < statement.leaves.size(); ++l) {
    if (use.leaves[l].array != l) continue;
    std::vector<Access> accesses;
    for (std::size_t k = l; k < statement.leaves.size(); ++k)
      if (use.leaves[k].array == l && use.modes.in_place[k] && needs_ghosts(use.modes.widths[k]))
        accesses.push_back(statement.leaves[k].access);
    fills[l] = Fill::make(std::move(accesses), statement.work);
  }
  return fills;
}

}  // namespace

LeafModes choose_modes(Statement const& statement) {
  LeafModes modes;
  for (auto const& leaf : statement.leaves) {
    auto const widths = leaf.array->is_pinned()
                            ? std::nullopt
                            : ghost_widths_for(*leaf.array->layout(), leaf.access, statement.work);
    modes.in_place.push_back(widths.has_value());
    modes.widths.push_back(widths.value_or(GhostWidths::none(leaf.access.rank())));
  }
  return modes;
}

std::vector<GhostGrowth> growth_for(Statement const& statement, LeafModes const& modes) {
  std::vector<GhostGrowth> growth;
  for (std::size_t l = 0; l < statement.leaves.size(); ++l) {
    auto const& array = statement.leaves[l].array;
    if (first_leaf_of(statement, l) != l) continue;
    auto widths = modes.widths[l];
    for (std::size_t k = l; k < statement.leaves.size(); ++k)
      if (statement.leaves[k].array == array) widths = widths.merged(modes.widths[k]);
    if (!array->widths().covers(widths)) growth.push_back({l, widths});
  }
  return growth;
}

StatementUse::StatementUse(Statement const& used, LeafModes const& chosen)
    : statement(used), modes(chosen) {
  for (std::size_t l = 0; l < statement.leaves.size(); ++l) {
    auto const& leaf = statement.leaves[l];
    leaves.push_back({leaf.array->layout(), leaf.access, first_leaf_of(statement, l),
                      modes.in_place[l], &leaf.array->freshness()});
  }
}

bool StatementUse::reads_overwritten(std::size_t leaf) const {
  auto const& request = statement.leaves[leaf];
  return request.array == statement.target &&
         could_read_overwritten(request.access, statement.work.map, statement.work.indices);
}

LoweredStatement lower_statement(Statement const& statement, LeafModes const& modes,
                                 DeviceSpan const& devices) {
  StatementUse const use(statement, modes);
  LoweredStatement lowered;
  for (std::int64_t i = 0; i < devices.count; ++i)
    lowered.devices.push_back(lower_device(use, DeviceId{devices.first.value() + i}));
  for (std::size_t l = 0; l < use.leaves.size(); ++l)
    lowered.overwrites |= modes.in_place[l] && use.reads_overwritten(l);
  lowered.fills = fills_of(use);
  note_totals(lowered);
  lowered.keeps.push_back(statement.work.layout);
  for (auto const& leaf : statement.leaves) lowered.keeps.push_back(leaf.array->layout());
  lowered.explanation = explain(lowered, statement, modes);
  if (lowered.explanation.has(Communication::Cause::gather)) lowered.gathers = -1;
  return lowered;
}

void note_totals(LoweredStatement& lowered) {
  for (auto const& device : lowered.devices) {
    lowered.messages += std::ssize(device.sends);
    for (auto const& message : device.sends) lowered.bytes += message.bytes;
  }
}

}  // namespace tessera
