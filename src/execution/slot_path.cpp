// Messages between devices whose memory the host reaches: packed into slots, unpacked from slots.
#include <algorithm>
#include <cstddef>

#include "src/device/strided.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/message_path.hpp"

namespace tessera {
namespace {

// Calls visit(block, first byte in the block, first byte in the piece, bytes) for each block that
// has bytes of the piece [first, first + size) of the message.
template <class Visit>
void visit_piece(Message const& message, std::int64_t first, std::int64_t size,
                 Visit const& visit) {
  std::int64_t begin = 0;
  std::int64_t done = 0;
  for (auto const& block : message.blocks) {
    if (done == size) return;
    auto const skip = first + done - begin;
    if (skip < block.bytes) {
      auto const bytes = std::min(block.bytes - skip, size - done);
      visit(block, skip, done, bytes);
      done += bytes;
    }
    begin += block.bytes;
  }
}

// Returns whether there is a next piece.
bool pack_and_send_piece(DeviceTask& task, Message const& message, std::int64_t round) {
  auto const piece = message.sender->slot_bytes();
  auto const first = round * piece;
  if (first >= message.bytes) return false;
  auto const size = std::min(piece, message.bytes - first);
  auto const slot = message.sender->slot(*task.waiter, task.tag, size);
  note_phase(task, Phase::wait);
  visit_piece(message, first, size,
              [&](MessageBlock const& block, std::int64_t skip, std::int64_t at, std::int64_t n) {
                (void)pack(base_of(task, block.storage, block.buffer), block.block, skip,
                           slot.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(n)));
              });
  message.sender->put(task.tag, size);
  note_phase(task, Phase::pack);
  return first + piece < message.bytes;
}

bool receive_and_unpack_piece(DeviceTask& task, Message const& message, std::int64_t round) {
  auto const piece = message.receiver->slot_bytes();
  auto const first = round * piece;
  if (first >= message.bytes) return false;
  auto const size = std::min(piece, message.bytes - first);
  auto const slot = message.receiver->take(*task.waiter, task.tag);
  note_phase(task, Phase::wait);
  visit_piece(message, first, size,
              [&](MessageBlock const& block, std::int64_t skip, std::int64_t at, std::int64_t n) {
                auto* const base = base_of(task, block.storage, block.buffer);
                auto const bytes =
                    slot.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(n));
                if (task.plan->non_temporal)
                  (void)unpack_non_temporal(base, block.block, skip, bytes);
                else
                  (void)unpack(base, block.block, skip, bytes);
              });
  message.receiver->release();
  note_phase(task, Phase::pack);
  return first + piece < message.bytes;
}

class SlotPath final : public PathSteps<SlotPath> {
 public:
  bool put_pieces(DeviceTask& task, PathMessages const& messages,
                  std::int64_t round) const override {
    bool more = false;
    for (auto const& message : messages.sends)
      more = pack_and_send_piece(task, message, round) || more;
    return more;
  }
  bool take_pieces(DeviceTask& task, PathMessages const& messages,
                   std::int64_t round) const override {
    bool more = false;
    for (auto const& message : messages.receives)
      more = receive_and_unpack_piece(task, message, round) || more;
    return more;
  }
  [[nodiscard]] bool holds_whole(Message const& message) const override {
    return fits_into_slots(message);
  }
};

}  // namespace

MessagePath const& slot_path() {
  static SlotPath const path;
  return path;
}

}  // namespace tessera
