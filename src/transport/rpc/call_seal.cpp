#include "src/transport/rpc/call_seal.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tessera {
namespace {

CallFront front_of(std::span<std::byte const> bytes) {
  CallFront front;
  std::memcpy(static_cast<void*>(&front), bytes.data(), sizeof front);
  return front;
}

Mac mac_of(MacKey const& key, CallFront const& front, std::span<std::byte const> bytes) {
  auto const payload = bytes.subspan(sizeof front);
  SipHash hash(key);
  std::array const words{front.number, front.counter, static_cast<std::uint64_t>(front.from),
                         static_cast<std::uint64_t>(payload.size())};
  hash.add_value(words);
  hash.add(payload.first(std::min(payload.size(), most_covered_bytes)));
  return hash.finish();
}

void write_front(std::span<std::byte> bytes, CallFront front, MacKey const& key) {
  front.mac = mac_of(key, front, bytes);
  std::memcpy(bytes.data(), &front, sizeof front);
}

}  // namespace

RequestSigner::Peer& RequestSigner::peer(ProcessId process) {
  auto const [place, is_new] = peers_.try_emplace(process);
  if (is_new) {
    place->second.requests = secret_.key(KeyPurpose::request, self_, process);
    place->second.answers = secret_.key(KeyPurpose::answer, process, self_);
  }
  return place->second;
}

void RequestSigner::sign(Call& call) {
  auto& to = peer(call.to);
  auto front = front_of(call.request);
  front.counter = ++to.sent;
  front.from = self_.value();
  write_front(call.request, front, to.requests);
}

bool RequestSigner::is_answer(Call const& call, std::span<std::byte const> bytes) {
  if (bytes.size() < sizeof(CallFront)) return false;
  auto const asked = front_of(call.request);
  auto const front = front_of(bytes);
  return front.number == asked.number && front.counter == asked.counter &&
         front.from == call.to.value() && front.mac == mac_of(peer(call.to).answers, front, bytes);
}

std::optional<ProcessId> RequestChecker::sender_of(std::span<std::byte const> request) {
  if (request.size() < sizeof(CallFront)) return std::nullopt;
  auto const front = front_of(request);
  if (front.from < 0 || front.from >= process_count_) return std::nullopt;
  ProcessId const from(front.from);
  auto const known = peers_.find(from);
  auto const key = known != peers_.end() ? known->second.requests
                                         : secret_.key(KeyPurpose::request, from, self_);
  if (!(front.mac == mac_of(key, front, request))) return std::nullopt;
  // Only now, so that strangers do not make the map grow.
  auto& peer = known != peers_.end() ? known->second : add_peer(from, key);
  if (!peer.taken.take(front.counter)) return std::nullopt;
  return from;
}

RequestChecker::Peer& RequestChecker::add_peer(ProcessId process, MacKey const& requests) {
  auto& peer = peers_[process];
  peer.requests = requests;
  peer.answers = answer_key(process);
  return peer;
}

MacKey RequestChecker::answer_key(ProcessId to) const {
  return secret_.key(KeyPurpose::answer, self_, to);
}

void RequestChecker::sign_answer(std::span<std::byte> answer, ProcessId to) const {
  auto front = front_of(answer);
  front.from = self_.value();
  auto const known = peers_.find(to);
  write_front(answer, front, known != peers_.end() ? known->second.answers : answer_key(to));
}

}  // namespace tessera
