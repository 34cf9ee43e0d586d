#include "src/execution/message_path.hpp"

#include <algorithm>

namespace tessera {

std::int64_t piece_bytes(Message const& message, std::int64_t slot_bytes, std::int64_t round) {
  return std::clamp<std::int64_t>(message.bytes - round * slot_bytes, 0, slot_bytes);
}

bool fits_into_slots(Message const& message) {
  return message.bytes <= slots_per_channel * message.sender->slot_bytes();
}

}  // namespace tessera
