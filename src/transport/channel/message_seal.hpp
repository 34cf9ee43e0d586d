#pragma once
/// @file
/// The code behind each message of a channel that a stranger could reach.

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/siphash.hpp"
#include "src/transport/channel/channel.hpp"

namespace tessera {

static_assert(sizeof(Mac) == seal_bytes);

/// Writes the code of message number `number` behind its payload and returns the message with it.
/// `message` is the header and the payload; the slot goes on behind it.
/// The code covers the header and the number. The cells are as safe as the network.
[[nodiscard]] std::span<std::byte> sealed(std::span<std::byte> message, MacKey const& key,
                                          std::uint64_t number);

/// True if what was received is, as a whole, the message of that number, from who has the key.
[[nodiscard]] bool is_sealed(std::span<std::byte const> received, MacKey const& key,
                             std::uint64_t number);

}  // namespace tessera
