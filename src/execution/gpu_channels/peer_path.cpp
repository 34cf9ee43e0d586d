// Messages between GPUs that both reach memory of one of them. The GPUs wait for each other; on the
// host the channel says only that work has been added.
#include "src/execution/gpu_channels/gpu_channel.hpp"
#include "src/execution/gpu_channels/gpu_messages.hpp"
#include "src/execution/message_path.hpp"

namespace tessera {
namespace {

// A slot of the lane may be written once the GPU that reads it has done so with its last message.
// The receiver has added that work to its queue: the channel's slot is free.
void send(Record& record, Message const& message) {
  auto& lane = *message.lane;
  auto& queue = *record.queue;
  (void)message.sender->slot(*record.waiter, record.tag);
  auto const which = lane.put++ % lane.slots.size();
  queue.wait(*lane.drained[which]);
  if (lane.is_direct)
    pack_on_gpu(record, message, lane.slots[which]);
  else
    queue.copy(lane.slots[which], in_room(record, message), message.bytes);
  queue.record(*lane.filled[which]);
  message.sender->put(record.tag, 0);
}

void receive(Record& record, Message const& message) {
  auto& lane = *message.lane;
  auto& queue = *record.queue;
  (void)message.receiver->take(*record.waiter, record.tag);
  auto const which = lane.taken++ % lane.slots.size();
  queue.wait(*lane.filled[which]);
  unpack_on_gpu(record, message, lane.slots[which]);
  queue.record(*lane.drained[which]);
  message.receiver->release();
}

class PeerPath final : public PathSteps<PeerPath> {
 public:
  void begin_sends(Record& record, PathMessages const& messages) const override {
    for (auto const& message : messages.sends)
      if (!message.lane->is_direct) pack_on_gpu(record, message, in_room(record, message));
    for (auto const& message : messages.sends) send(record, message);
    note_phase(record, Phase::pack);
  }
  void finish_receives(Record& record, PathMessages const& messages) const override {
    for (auto const& message : messages.receives) receive(record, message);
    note_phase(record, Phase::wait);
  }
};

PeerPath const path;

}  // namespace

MessagePath const& peer_path() {
  return path;
}

}  // namespace tessera
