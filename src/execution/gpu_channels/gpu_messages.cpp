#include "src/execution/gpu_channels/gpu_messages.hpp"

#include <algorithm>

#include "src/execution/gpu_channels/gpu_channel.hpp"

namespace tessera {
namespace {

constexpr std::int64_t alignment = 256;

bool needs_space(Message const& message) {
  if (message.path != PathKind::peer) return true;
  return message.sender != nullptr && !message.peer_channel->is_direct;
}

bool is_staged(Message const& message) {
  return message.path == PathKind::staged;
}

// Calls visit(block, the place of its bytes in the message) for each block.
template <class Visit>
void visit_blocks(Message const& message, Visit const& visit) {
  std::int64_t at = 0;
  for (auto const& block : message.blocks) {
    if (block.bytes > 0) visit(block, at);
    at += block.bytes;
  }
}

}  // namespace

MessageSpace lay_out_messages(DevicePlan& plan) {
  std::int64_t end = 0;
  bool is_any_staged = false;
  auto const place = [&](Message& message) {
    message.space_offset = end;
    if (needs_space(message)) end += (message.bytes + alignment - 1) / alignment * alignment;
    is_any_staged = is_any_staged || is_staged(message);
  };
  for (auto* const exchange : plan.exchanges()) {
    std::ranges::for_each(exchange->sends, place);
    std::ranges::for_each(exchange->receives, place);
  }
  // A staged message lies at the same offset in pinned memory as on the GPU, so both buffers are as
  // large.
  return {end, is_any_staged ? end : 0};
}

void pack_on_gpu(DeviceTask& task, Message const& message, std::byte* to) {
  visit_blocks(message, [&](MessageBlock const& block, std::int64_t at) {
    task.queue->pack(base_of(task, block.storage, block.buffer), block.block, 0, to + at,
                     block.bytes);
  });
}

void unpack_on_gpu(DeviceTask& task, Message const& message, std::byte const* from) {
  visit_blocks(message, [&](MessageBlock const& block, std::int64_t at) {
    task.queue->unpack(base_of(task, block.storage, block.buffer), block.block, 0, from + at,
                       block.bytes);
  });
}

}  // namespace tessera
