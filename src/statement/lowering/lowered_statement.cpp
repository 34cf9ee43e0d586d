#include "src/statement/lowering/lowered_statement.hpp"

namespace tessera {

void add_block(std::vector<MessagePlan>& messages, DeviceId peer, MessageBlock block) {
  if (messages.empty() || messages.back().peer != peer) messages.push_back({peer, 0, {}});
  auto& message = messages.back();
  block.bytes = stream_bytes(block.block);
  block.block = normalized(block.block);
  message.bytes += block.bytes;
  message.blocks.push_back(block);
}

}  // namespace tessera
