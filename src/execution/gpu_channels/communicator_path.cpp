// Messages by a communicator of the GPUs' own, which sends and receives all of a statement at once,
// beside the kernels that were launched since the packing.
#include "src/execution/gpu_channels/gpu_messages.hpp"
#include "src/execution/gpu_channels/gpu_paths.hpp"
#include "src/execution/gpu_wait.hpp"

namespace tessera {
namespace {

// The channel says that this device has come to the statement: messages of a communicator carry no
// tag.
void announce(DeviceTask& task, Message const& message) {
  (void)message.sender->slot(*task.waiter, task.tag, 0);
  message.sender->put(task.tag, 0);
}

void await_announcement(DeviceTask& task, Message const& message) {
  (void)message.receiver->take(*task.waiter, task.tag);
  message.receiver->release();
}

void run_communicator(DeviceTask& task, PathMessages const& messages) {
  auto& gpu = *task.context;
  gpu.communication_queue->wait(*gpu.packed);
  gpu.group->begin();
  for (auto const& message : messages.sends)
    gpu.group->send(message.peer.value(), in_space(task, message), message.bytes);
  for (auto const& message : messages.receives)
    gpu.group->receive(message.peer.value(), in_space(task, message), message.bytes);
  gpu.group->end();
  wait_for_communicator(task);
  gpu.communication_queue->record(*gpu.arrived);
  gpu.queue->wait(*gpu.arrived);
}

class CommunicatorPath final : public PathSteps<CommunicatorPath> {
 public:
  void begin_sends(DeviceTask& task, PathMessages const& messages) const override {
    for (auto const& message : messages.sends) pack_on_gpu(task, message, in_space(task, message));
    task.queue->record(*task.context->packed);
    for (auto const& message : messages.sends) announce(task, message);
    note_phase(task, Phase::pack);
  }

  // The exchange ends when the other members have come to the statement too: so that is waited for
  // first, where failures and mismatches are seen.
  void finish_receives(DeviceTask& task, PathMessages const& messages) const override {
    for (auto const& message : messages.receives) await_announcement(task, message);
    run_communicator(task, messages);
    note_phase(task, Phase::wait);
    for (auto const& message : messages.receives)
      unpack_on_gpu(task, message, in_space(task, message));
    note_phase(task, Phase::pack);
  }
};

}  // namespace

MessagePath const& communicator_path() {
  static CommunicatorPath const path;
  return path;
}

}  // namespace tessera
