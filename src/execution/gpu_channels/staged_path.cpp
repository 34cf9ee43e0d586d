// Messages of GPUs that neither reach each other nor share a communicator: through pinned memory of
// the host, and from there through the slots of channels.
#include <cstddef>
#include <cstring>

#include "src/execution/gpu_channels/gpu_messages.hpp"
#include "src/execution/gpu_channels/gpu_paths.hpp"
#include "src/execution/gpu_wait.hpp"

namespace tessera {
namespace {

bool send_staged_piece(DeviceTask& task, Message const& message, std::int64_t round) {
  auto const slot_bytes = message.sender->slot_bytes();
  auto const size = piece_bytes(message, slot_bytes, round);
  if (size == 0) return false;
  auto const slot = message.sender->slot(*task.waiter, task.tag, size);
  std::memcpy(slot.data(), in_staging(task, message) + round * slot_bytes,
              static_cast<std::size_t>(size));
  message.sender->put(task.tag, size);
  return piece_bytes(message, slot_bytes, round + 1) > 0;
}

bool receive_staged_piece(DeviceTask& task, Message const& message, std::int64_t round) {
  auto const slot_bytes = message.receiver->slot_bytes();
  auto const size = piece_bytes(message, slot_bytes, round);
  if (size == 0) return false;
  auto const slot = message.receiver->take(*task.waiter, task.tag);
  std::memcpy(in_staging(task, message) + round * slot_bytes, slot.data(),
              static_cast<std::size_t>(size));
  message.receiver->release();
  return piece_bytes(message, slot_bytes, round + 1) > 0;
}

class StagedPath final : public PathSteps<StagedPath> {
 public:
  void begin_sends(DeviceTask& task, PathMessages const& messages) const override {
    if (messages.sends.empty()) return;
    for (auto const& message : messages.sends) {
      pack_on_gpu(task, message, in_space(task, message));
      task.queue->copy(in_staging(task, message), in_space(task, message), message.bytes);
    }
    note_phase(task, Phase::pack);
    wait_for_gpu(task);
    note_phase(task, Phase::wait);
  }

  bool put_pieces(DeviceTask& task, PathMessages const& messages,
                  std::int64_t round) const override {
    bool more = false;
    for (auto const& message : messages.sends)
      more = send_staged_piece(task, message, round) || more;
    note_phase(task, Phase::wait);
    return more;
  }

  bool take_pieces(DeviceTask& task, PathMessages const& messages,
                   std::int64_t round) const override {
    // The bytes of the statement before have left the staging memory.
    if (round == 0 && !messages.receives.empty()) wait_until_passed(task, *task.context->unstaged);
    bool more = false;
    for (auto const& message : messages.receives)
      more = receive_staged_piece(task, message, round) || more;
    note_phase(task, Phase::wait);
    return more;
  }

  void finish_receives(DeviceTask& task, PathMessages const& messages) const override {
    if (messages.receives.empty()) return;
    for (auto const& message : messages.receives)
      task.queue->copy(in_space(task, message), in_staging(task, message), message.bytes);
    task.queue->record(*task.context->unstaged);
    for (auto const& message : messages.receives)
      unpack_on_gpu(task, message, in_space(task, message));
    note_phase(task, Phase::pack);
  }

  [[nodiscard]] bool holds_whole(Message const& message) const override {
    return fits_into_slots(message);
  }
};

}  // namespace

MessagePath const& staged_path() {
  static StagedPath const path;
  return path;
}

}  // namespace tessera
