#pragma once
/// @file
/// What the ends of a route between GPUs of two processes tell each other before its first message,
/// and how processes agree on what they have.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/transport/bootstrap.hpp"
#include "tessera/transport/network.hpp"

namespace tessera {

/// Why something cannot be, cut where it does not fit; empty if it can.
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

/// What `f` fails by.
template <class F>
[[nodiscard]] Reason trouble_of(F const& f) {
  try {
    f();
  } catch (DeviceError const& error) {
    return reason_from(error);
  } catch (TransportError const& error) {
    return reason_from(error);
  }
  return {};
}

/// Makes trouble of one process one of all: its words there, who has it elsewhere; empty if nobody
/// has any. Ranks: collective.
[[nodiscard]] inline std::string agreed(Bootstrap& bootstrap, std::string const& trouble) {
  auto const last = bootstrap.max_of(trouble.empty() ? -1 : bootstrap.self().value());
  if (last < 0) return "";
  return trouble.empty() ? text("process ", last, " cannot, and says why") : trouble;
}

/// Whether all processes have the same number. Ranks: collective.
[[nodiscard]] inline bool is_equal_on_all(Bootstrap& bootstrap, std::int64_t number) {
  std::array<std::int64_t, 2> ends{number, -number};
  bootstrap.max_of_each(ends);
  return ends[0] == -ends[1];
}

/// Notes begin with what they are about: a statement, and a length.
struct NoteHead {
  std::uint64_t statement = 0;
  std::uint64_t hash = 0;
  std::int64_t bytes = 0;

  friend bool operator==(NoteHead const&, NoteHead const&) = default;
};
[[nodiscard]] inline NoteHead head_of(StatementTag const& tag, std::int64_t bytes) {
  return {tag.number, tag.hash, bytes};
}

template <class Note>
void tell(Network& network, DeviceId from, DeviceId to, Note const& note) {
  static_assert(sizeof note <= Network::max_note_bytes);
  network.tell(from, to, std::as_bytes(std::span(&note, 1)));
}

/// The next note of a statement. Throws: Mismatch if it is about another one; PeerFailed.
template <class Note>
[[nodiscard]] Note hear(Network& network, DeviceId from, DeviceId to, StatementTag const& tag) {
  auto const bytes = network.hear(from, to, tag);
  Note note;
  if (bytes.size() == sizeof note)
    std::memcpy(static_cast<void*>(&note), bytes.data(), sizeof note);
  if (note.head == head_of(tag, note.head.bytes)) return note;
  throw Mismatch(text("device ", from, " prepares messages of statement ", note.head.statement,
                      " while device ", to, " does so for ", tag,
                      ": the processes run different programs; every process must run the same "
                      "statements in the same order"));
}

}  // namespace tessera
