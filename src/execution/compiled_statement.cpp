#include "src/execution/compiled_statement.hpp"

#include <utility>

namespace tessera {
namespace {

std::vector<Message> without_channels(std::vector<MessagePlan>&& plans) {
  std::vector<Message> messages(plans.size());
  for (std::size_t m = 0; m < plans.size(); ++m)
    static_cast<MessagePlan&>(messages[m]) = std::move(plans[m]);
  return messages;
}

}  // namespace

CompiledStatement::CompiledStatement(LoweredStatement&& lowered)
    : StatementPlan(std::move(static_cast<StatementPlan&>(lowered))) {
  for (auto& device : lowered.devices)
    devices.push_back({std::move(static_cast<DeviceWork&>(device)),
                       without_channels(std::move(device.sends)),
                       without_channels(std::move(device.receives)),
                       nullptr,
                       {}});
}

}  // namespace tessera
