#include "src/transport/channel/channel_memory.hpp"

#include <new>

#include "src/device/host_memory.hpp"

namespace tessera {

// The counters are shared between processes, which a lock inside them would not survive.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

void place_channel(ChannelEnd& end, std::byte* memory, std::int64_t slot_bytes) {
  end.memory = reinterpret_cast<ChannelMemory*>(memory);
  end.slots = memory + sizeof(ChannelMemory);
  end.slot_bytes = slot_bytes;
  end.slot_stride = slot_stride(slot_bytes);
}

void start_channel(ChannelEnd const& end) {
  new (end.memory) ChannelMemory;
  for (int slot = 0; slot < 2; ++slot) new (end.slots + slot * end.slot_stride) MessageHeader{};
  if constexpr (poison_slots) {
    for (int slot = 0; slot < 2; ++slot)
      poison(end.slots + slot * end.slot_stride + sizeof(MessageHeader), end.slot_bytes);
  }
}

ChannelEnd private_end(OfferRequest const& request, std::int64_t slot_bytes) {
  if (request.refused != nullptr) return *request.refused;
  ChannelEnd end;
  end.from = request.from;
  end.to = request.to;
  end.peer = request.peer;
  auto const memory = std::make_shared<HostMemory>(channel_bytes(slot_bytes));
  end.keeps = memory;
  place_channel(end, memory->data(), slot_bytes);
  start_channel(end);
  return end;
}

}  // namespace tessera
