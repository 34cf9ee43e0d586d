#include "src/execution/connection/message_paths.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "src/execution/gpu_channels/gpu_paths.hpp"

namespace tessera {
namespace {

// Staged messages come last, since the host waits for the GPU before it sends them.
constexpr std::array all_paths{PathKind::slots, PathKind::peer, PathKind::communicator,
                               PathKind::staged};

void sort_by_path(std::vector<Message>& messages) {
  // NCCL and UCX match messages of a pair by order, so both sides must keep the same order.
  std::ranges::stable_sort(messages, {}, &Message::path);
}

std::size_t count(std::vector<Message> const& messages, PathKind path) {
  return static_cast<std::size_t>(std::ranges::count(messages, path, &Message::path));
}

}  // namespace

MessagePath const& path_of(PathKind kind) {
  switch (kind) {
    case PathKind::slots:
      break;
    case PathKind::staged:
      return staged_path();
    case PathKind::peer:
      return peer_path();
    case PathKind::communicator:
      return communicator_path();
  }
  return slot_path();
}

void group_by_path(Exchange& exchange) {
  sort_by_path(exchange.sends);
  sort_by_path(exchange.receives);
  exchange.path = nullptr;
  exchange.paths.clear();
  PathUse use;
  for (auto const path : all_paths) {
    use.path = &path_of(path);
    use.send_count = count(exchange.sends, path);
    use.receive_count = count(exchange.receives, path);
    if (use.send_count + use.receive_count > 0) exchange.paths.push_back(use);
    use.first_send += use.send_count;
    use.first_receive += use.receive_count;
  }
  if (!exchange.paths.empty())
    exchange.path = exchange.paths.size() == 1 ? exchange.paths.front().path : &mixed_path();
}

}  // namespace tessera
