#pragma once
/// @file
/// Where the counters and slots of a channel lie in a piece of memory.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/transport/channel/channel.hpp"
#include "src/transport/channel/transport.hpp"

namespace tessera {

/// Bytes between two slots: header, payload and room for a seal, in whole cache lines.
[[nodiscard]] constexpr std::int64_t slot_stride(std::int64_t slot_bytes) {
  return static_cast<std::int64_t>(sizeof(MessageHeader)) +
         (slot_bytes + seal_bytes + 63) / 64 * 64;
}

/// Bytes of a channel: counters and two slots.
[[nodiscard]] constexpr std::int64_t channel_bytes(std::int64_t slot_bytes) {
  return static_cast<std::int64_t>(sizeof(ChannelMemory)) + 2 * slot_stride(slot_bytes);
}

/// Points `end` at the counters and slots in `memory`, which is 64-byte aligned.
void place_channel(ChannelEnd& end, std::byte* memory, std::int64_t slot_bytes);

/// Makes the counters, at zero, and poisons the slots where the build asks for it. Once per memory.
void start_channel(ChannelEnd const& end);

/// An end in memory of this process alone, laid out and started; the memory is taken when first
/// touched. Where the sender has refused an end, that one, whose memory stays the receiver's.
[[nodiscard]] ChannelEnd private_end(OfferRequest const& request, std::int64_t slot_bytes);

}  // namespace tessera
