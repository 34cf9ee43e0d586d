#include "src/liveness/heartbeat_seal.hpp"

#include <cstring>

namespace tessera {

void HeartbeatSeal::sign(HeartbeatDatagram& datagram) {
  auto& peer = peers_[ProcessId(datagram.to)];
  datagram.from = self_.value();
  datagram.counter = ++(datagram.is_answer ? peer.answers_sent : peer.questions_sent);
  datagram.mac = mac_of(datagram);
}

Mac HeartbeatSeal::mac_of(HeartbeatDatagram const& datagram) const {
  auto const purpose = datagram.is_answer ? KeyPurpose::heartbeat : KeyPurpose::question;
  SipHash hash(secret_.key(purpose, ProcessId(datagram.from), ProcessId(datagram.to)));
  hash.add_value(datagram.about);
  hash.add_value(datagram.counter);
  hash.add_value(datagram.state);
  return hash.finish();
}

std::optional<HeartbeatDatagram> HeartbeatSeal::read(std::span<std::byte const> bytes) const {
  HeartbeatDatagram datagram;
  if (bytes.size() != sizeof datagram) return std::nullopt;
  std::memcpy(static_cast<void*>(&datagram), bytes.data(), sizeof datagram);
  // Copied as a number, since not every byte is a truth value.
  std::uint8_t is_answer = 0;
  std::memcpy(&is_answer, bytes.data() + offsetof(HeartbeatDatagram, is_answer), 1);
  if (is_answer > 1) return std::nullopt;
  datagram.is_answer = is_answer == 1;
  if (!is_in_job(datagram.from) || !is_in_job(datagram.to) || !is_in_job(datagram.about))
    return std::nullopt;
  if (!(datagram.mac == mac_of(datagram))) return std::nullopt;
  return datagram;
}

std::optional<HeartbeatDatagram> HeartbeatSeal::open(std::span<std::byte const> bytes) {
  auto const datagram = read(bytes);
  if (!datagram || datagram->to != self_.value()) return std::nullopt;
  auto& peer = peers_[ProcessId(datagram->from)];
  auto& window = datagram->is_answer ? peer.answers : peer.questions;
  return window.take(datagram->counter) ? datagram : std::nullopt;
}

std::optional<HeartbeatDatagram> HeartbeatSeal::returned(std::span<std::byte const> bytes) {
  auto const datagram = read(bytes);
  if (!datagram || datagram->from != self_.value() || datagram->is_answer) return std::nullopt;
  return peers_[ProcessId(datagram->to)].returned.take(datagram->counter) ? datagram : std::nullopt;
}

}  // namespace tessera
