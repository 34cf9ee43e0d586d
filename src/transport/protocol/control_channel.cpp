#include "src/transport/protocol/control_channel.hpp"

#include <random>

namespace tessera {
namespace {

std::int64_t random_number() {
  std::random_device random;
  return static_cast<std::int64_t>((std::uint64_t{random()} << 32U | random()) >> 1U);
}

}  // namespace

ControlChannel::ControlChannel(Bootstrap& bootstrap)
    : bootstrap_(bootstrap), network_(bootstrap.max_of(random_number())) {}

void ControlChannel::poll(Handler const& handler) {
  bootstrap_.poll_control([&](ProcessId from, std::span<std::byte const> bytes) {
    if (bytes.size() < sizeof network_) return;
    if (std::memcmp(bytes.data(), &network_, sizeof network_) != 0) return;
    handler(from, bytes.subspan(sizeof network_));
  });
}

}  // namespace tessera
