#include "src/statement/operations/lower_operation.hpp"

#include <algorithm>
#include <utility>

#include "src/base/text.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/lowering/plan_bytes.hpp"

namespace tessera {
namespace {

// A process does not see the steps of others, and all must agree on the ghost cells of an array. So
// what would be read with ghost cells comes to temporaries.
OperandModes modes_without_ghosts(Statement const& step) {
  auto modes = choose_modes(step);
  for (std::size_t l = 0; l < step.operands.size(); ++l) {
    auto const no_widths = GhostWidths::none(step.operands[l].access.rank());
    if (modes.widths[l] == no_widths) continue;
    modes.in_place[l] = false;
    modes.widths[l] = no_widths;
  }
  return modes;
}

LoweredStatement lower_step(Statement const& step, DeviceSpan const& devices,
                            Forwarding const& forwarding) {
  auto const modes = modes_without_ghosts(step);
  auto lowered = lower_statement(step, modes, devices, forwarding);
  for (std::size_t l = 0; l < step.operands.size(); ++l)
    if (!modes.in_place[l])
      lowered.explanation.reads[l].reason =
          text("reads ", step.operands[l].access, " in steps, which fill no ghost cells");
  return lowered;
}

std::int64_t estimated_bytes(Operation const& operation) {
  // A plan of a few boxes, which the estimate of a statement does not count.
  constexpr std::int64_t least_of_step = 4 << 10;
  std::int64_t most = 0;
  for (auto const* statement : operation.statements)
    most = std::max(most, estimated_plan_bytes(*statement));
  return operation.steps->most_steps() * (least_of_step + most);
}

}  // namespace

LoweredOperation lower_operation(Operation const& operation, DeviceSpan const& devices,
                                 Forwarding const& forwarding) {
  LoweredOperation lowered;
  operation.steps->visit(operation, devices, [&](OperationSteps::Step const& step) {
    auto plan = lower_step(step.part, devices, forwarding);
    if (std::any_of(plan.devices.begin(), plan.devices.end(), has_work<LoweredDevice>))
      lowered.steps.push_back({step.statement, step.place, std::move(plan)});
  });
  lowered.device_bytes = estimated_bytes(operation);
  return lowered;
}

}  // namespace tessera
