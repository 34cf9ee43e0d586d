// Messages between GPUs that both reach memory of one of them. The GPUs wait for each other; on the
// host the channel says only that work has been added.
#include "src/execution/gpu_channels/gpu_channel.hpp"
#include "src/execution/gpu_channels/gpu_messages.hpp"
#include "src/execution/gpu_channels/gpu_paths.hpp"

namespace tessera {
namespace {

// A slot of the channel may be written once the GPU that reads it has done so with its last
// message. The receiver has added that work to its queue: the channel's slot is free.
void send(DeviceTask& task, Message const& message) {
  auto& peer_channel = *message.peer_channel;
  auto& queue = *task.queue;
  (void)message.sender->slot(*task.waiter, task.tag, 0);
  auto const which = peer_channel.put++ % peer_channel.slots.size();
  queue.wait(*peer_channel.drained[which]);
  if (peer_channel.is_direct)
    pack_on_gpu(task, message, peer_channel.slots[which]);
  else
    queue.copy(peer_channel.slots[which], in_space(task, message), message.bytes);
  queue.record(*peer_channel.filled[which]);
  message.sender->put(task.tag, 0);
}

void receive(DeviceTask& task, Message const& message) {
  auto& peer_channel = *message.peer_channel;
  auto& queue = *task.queue;
  (void)message.receiver->take(*task.waiter, task.tag);
  auto const which = peer_channel.taken++ % peer_channel.slots.size();
  queue.wait(*peer_channel.filled[which]);
  unpack_on_gpu(task, message, peer_channel.slots[which]);
  queue.record(*peer_channel.drained[which]);
  message.receiver->release();
}

class PeerPath final : public PathSteps<PeerPath> {
 public:
  void begin_sends(DeviceTask& task, PathMessages const& messages) const override {
    for (auto const& message : messages.sends)
      if (!message.peer_channel->is_direct) pack_on_gpu(task, message, in_space(task, message));
    for (auto const& message : messages.sends) send(task, message);
    note_phase(task, Phase::pack);
  }
  void finish_receives(DeviceTask& task, PathMessages const& messages) const override {
    for (auto const& message : messages.receives) receive(task, message);
    note_phase(task, Phase::wait);
  }
};

}  // namespace

MessagePath const& peer_path() {
  static PeerPath const path;
  return path;
}

}  // namespace tessera
