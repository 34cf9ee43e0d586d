// Messages by a communicator of the GPUs' own, which sends and receives all of a statement at once,
// beside the kernels that were launched since the packing.
#include "src/execution/gpu_channels/gpu_messages.hpp"
#include "src/execution/gpu_wait.hpp"
#include "src/execution/message_path.hpp"

namespace tessera {
namespace {

// The channel says that this device has come to the statement: messages of a communicator carry no
// tag.
void announce(Record& record, Message const& message) {
  (void)message.sender->slot(*record.waiter, record.tag);
  message.sender->put(record.tag, 0);
}

void await_announcement(Record& record, Message const& message) {
  (void)message.receiver->take(*record.waiter, record.tag);
  message.receiver->release();
}

void run_communicator(Record& record, PathMessages const& messages) {
  auto& gpu = *record.gpu_context;
  gpu.wires->wait(*gpu.packed);
  gpu.group->begin();
  for (auto const& message : messages.sends)
    gpu.group->send(message.peer.value(), in_room(record, message), message.bytes);
  for (auto const& message : messages.receives)
    gpu.group->receive(message.peer.value(), in_room(record, message), message.bytes);
  gpu.group->end();
  wait_for_communicator(record);
  gpu.wires->record(*gpu.arrived);
  gpu.stream->wait(*gpu.arrived);
}

class CommunicatorPath final : public PathSteps<CommunicatorPath> {
 public:
  void begin_sends(Record& record, PathMessages const& messages) const override {
    for (auto const& message : messages.sends)
      pack_on_gpu(record, message, in_room(record, message));
    record.queue->record(*record.gpu_context->packed);
    for (auto const& message : messages.sends) announce(record, message);
    note_phase(record, Phase::pack);
  }

  // The exchange ends when the other members have come to the statement too: so that is waited for
  // first, where failures and mismatches are seen.
  void finish_receives(Record& record, PathMessages const& messages) const override {
    for (auto const& message : messages.receives) await_announcement(record, message);
    run_communicator(record, messages);
    note_phase(record, Phase::wait);
    for (auto const& message : messages.receives)
      unpack_on_gpu(record, message, in_room(record, message));
    note_phase(record, Phase::pack);
  }
};

CommunicatorPath const path;

}  // namespace

MessagePath const& communicator_path() {
  return path;
}

}  // namespace tessera
