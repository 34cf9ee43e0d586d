#pragma once
/// @file
/// The handshake between the ends of a GPU route of two processes before its first message, and how
/// processes agree on the result.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/job/bootstrap.hpp"
#include "src/network/network.hpp"
#include "src/transport/protocol/message.hpp"

namespace tessera {

/// The reason why something is impossible, truncated if too long; empty if it is possible.
using Reason = std::array<char, 400>;

[[nodiscard]] inline bool is_empty(Reason const& reason) {
  return reason.front() == '\0';
}
[[nodiscard]] inline Reason reason_from(Error const& error) {
  Reason result{};
  std::string_view const words(error.what());
  std::copy_n(words.begin(), std::min(words.size(), result.size() - 1), result.begin());
  return result;
}

/// Runs `f` and returns the reason of its failure; empty if it succeeds.
template <class F>
[[nodiscard]] Reason reason_of(F const& f) {
  try {
    f();
  } catch (DeviceError const& error) {
    return reason_from(error);
  } catch (TransportError const& error) {
    return reason_from(error);
  }
  return {};
}

/// Spreads a failure of one process to all: returns its message on that process, and its number on
/// the others; empty if no process failed. Ranks: collective.
[[nodiscard]] inline std::string agreed(Bootstrap& bootstrap, std::string const& reason) {
  auto const last = bootstrap.max_of(reason.empty() ? -1 : bootstrap.self().value());
  if (last < 0) return "";
  if (!reason.empty()) return reason;
  return text("process ", last, " cannot do so; its own error message says why");
}

/// The header of a handshake message: the statement and a length.
struct HandshakeHeader {
  std::uint64_t statement = 0;
  std::uint64_t hash = 0;
  std::int64_t bytes = 0;

  friend bool operator==(HandshakeHeader const&, HandshakeHeader const&) = default;
};
[[nodiscard]] inline HandshakeHeader head_of(StatementTag const& tag, std::int64_t bytes) {
  return {tag.number, tag.hash, bytes};
}

template <class Note>
void send_handshake(Network& network, DeviceId from, DeviceId to, Note const& note) {
  static_assert(sizeof note <= Network::max_handshake_bytes);
  network.send_handshake(from, to, std::as_bytes(std::span(&note, 1)));
}

/// Receives the next handshake message of a statement. Throws: Mismatch if it belongs to another
/// statement; PeerFailed.
template <class Note>
[[nodiscard]] Note receive_handshake(Network& network, DeviceId from, DeviceId to,
                                     StatementTag const& tag) {
  auto const bytes = network.receive_handshake(from, to, tag);
  Note note;
  if (bytes.size() == sizeof note)
    std::memcpy(static_cast<void*>(&note), bytes.data(), sizeof note);
  if (note.head == head_of(tag, note.head.bytes)) return note;
  throw different_programs(text("device ", from, " prepares messages of statement ",
                                note.head.statement, " while device ", to, " does so for ", tag,
                                ":"));
}

}  // namespace tessera
