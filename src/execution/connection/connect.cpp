#include "src/execution/connection/connect.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "src/base/text.hpp"
#include "src/execution/connection/message_paths.hpp"
#include "src/execution/gpu_channels/gpu_routes.hpp"

namespace tessera {
namespace {

// The routes by which the cells of each operand are sent.
void explain_routes(CompiledStatement& compiled) {
  auto& reads = compiled.explanation.reads;
  std::vector<std::set<std::string_view>> routes(reads.size());
  for (auto const& device : compiled.devices)
    for (auto const* exchange : device.exchanges())
      for (auto const& message : exchange->sends)
        for (auto const& block : message.blocks)
          routes[block.operand].insert(to_string(route_of(message)));
  for (std::size_t l = 0; l < reads.size(); ++l) reads[l].routes = join(routes[l]);
}

}  // namespace

void open_channels(CompiledStatement& compiled, StatementTag const& tag,
                   MessageTools const& tools) {
  for (auto& device : compiled.devices)
    for (auto* exchange : device.exchanges())
      for (auto& message : exchange->receives)
        message.receiver = &tools.network.receiver(message.peer, device.device);
  for (auto& device : compiled.devices)
    for (auto* exchange : device.exchanges())
      for (auto& message : exchange->sends)
        message.sender = &tools.network.sender(device.device, message.peer, tag);
  tools.gpu_routes.prepare(compiled, tag);
  for (auto& device : compiled.devices)
    for (auto* exchange : device.exchanges()) group_by_path(*exchange);
}

std::shared_ptr<CompiledStatement> connect(LoweredStatement&& lowered, StatementTag const& tag,
                                           MessageTools const& tools) {
  auto compiled = std::make_shared<CompiledStatement>(std::move(lowered));
  open_channels(*compiled, tag, tools);
  explain_routes(*compiled);
  return compiled;
}

}  // namespace tessera
