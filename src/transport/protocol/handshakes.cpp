#include "src/transport/protocol/handshakes.hpp"

#include <algorithm>
#include <utility>

#include "tessera/detail/base/assert.hpp"

#include "src/base/text.hpp"

namespace tessera {

void Handshakes::send(DeviceId from, DeviceId to, std::span<std::byte const> bytes) {
  control::Note message;
  TESSERA_ASSERT(bytes.size() <= max_bytes, bytes.size());
  message.from = from;
  message.to = to;
  message.size = static_cast<std::uint32_t>(bytes.size());
  std::ranges::copy(bytes, message.bytes.begin());
  control_channel_.send(job_.process_of(to), message);
  ++sent_[{from, to}];
}

void Handshakes::on_handshake(control::Note const& note) {
  if (!job_.is_remote(note.from) || !job_.is_local(note.to))
    throw control::BadMessage(text("a note from device ", note.from, " to device ", note.to));
  auto const bytes = std::span(note.bytes).first(note.size);
  received_[{note.from, note.to}].waiting.emplace_back(bytes.begin(), bytes.end());
}

std::vector<std::byte> Handshakes::take(DeviceId from, DeviceId to) {
  auto& [waiting, taken] = received_[{from, to}];
  TESSERA_ASSERT(!waiting.empty(), from, " -> ", to);
  auto bytes = std::move(waiting.front());
  waiting.pop_front();
  ++taken;
  return bytes;
}

bool Handshakes::is_satisfied(control::Edge const& edge) const {
  auto const found = sent_.find({edge.peer, edge.self});
  return found != sent_.end() && found->second >= edge.count;
}

}  // namespace tessera
