#include "src/transport/channel/message_seal.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/channel/message_seal");

namespace {

MacKey key_of(JobSecret const& secret) {
  return secret.key(KeyPurpose::message, DeviceId(0), DeviceId(1));
}

std::vector<std::byte> message_of(std::int64_t payload, std::uint64_t number) {
  std::vector<std::byte> slot(
      sizeof(MessageHeader) + static_cast<std::size_t>(payload + seal_bytes), std::byte{3});
  MessageHeader header{};
  header.write({7, 99, {}}, payload);
  std::memcpy(slot.data(), &header, sizeof header);
  auto const message = std::span(slot).first(slot.size() - seal_bytes);
  CHECK(sealed(message, key_of(own_secret()), number).size() == slot.size());
  return slot;
}

}  // namespace

TEST_CASE("a message with its seal is believed as the one of its number") {
  for (std::int64_t const payload : {0, 1, 63, 64, 1000}) {
    auto const message = message_of(payload, 12);
    CHECK(is_sealed(message, key_of(own_secret()), 12));
    CHECK_FALSE(is_sealed(message, key_of(own_secret()), 11));
    CHECK_FALSE(is_sealed(message, key_of(secret_of_another_job()), 12));
  }
}

TEST_CASE("no bit of the header or the seal can be changed, and no length") {
  auto const message = message_of(10, 0);
  auto const key = key_of(own_secret());
  for (std::size_t size = 0; size < message.size(); ++size)
    CHECK_FALSE(is_sealed(std::span(message).first(size), key, 0));
  auto longer = message;
  longer.push_back(std::byte{0});
  CHECK_FALSE(is_sealed(longer, key, 0));
  for (std::size_t byte = 0; byte < message.size(); ++byte) {
    bool const is_payload =
        byte >= sizeof(MessageHeader) && byte < message.size() - std::size_t{seal_bytes};
    if (is_payload) continue;
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto changed = message;
      changed[byte] ^= std::byte{1} << bit;
      CHECK_FALSE(is_sealed(changed, key, 0));
    }
  }
}

TEST_SUITE_END();
