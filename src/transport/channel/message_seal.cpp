#include "src/transport/channel/message_seal.hpp"

#include <cstring>

#include "tessera/detail/base/assert.hpp"

namespace tessera {
namespace {

constexpr auto header_bytes = sizeof(MessageHeader);

Mac mac_of(std::span<std::byte const> message, MacKey const& key, std::uint64_t number) {
  SipHash hash(key);
  hash.add_value(number);
  hash.add(message.first(header_bytes));
  return hash.finish();
}

}  // namespace

std::span<std::byte> sealed(std::span<std::byte> message, MacKey const& key, std::uint64_t number) {
  TESSERA_ASSERT(message.size() >= header_bytes, message.size());
  auto const mac = mac_of(message, key, number);
  std::memcpy(message.data() + message.size(), &mac, sizeof mac);
  return {message.data(), message.size() + sizeof mac};
}

bool is_sealed(std::span<std::byte const> received, MacKey const& key, std::uint64_t number) {
  if (received.size() < header_bytes + sizeof(Mac)) return false;
  auto const message = received.first(received.size() - sizeof(Mac));
  MessageHeader header;
  std::memcpy(static_cast<void*>(&header), message.data(), sizeof header);
  Mac mac;
  std::memcpy(static_cast<void*>(&mac), message.data() + message.size(), sizeof mac);
  return header.size_bytes == static_cast<std::int64_t>(message.size() - header_bytes) &&
         mac == mac_of(message, key, number);
}

}  // namespace tessera
