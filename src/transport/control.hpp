#pragma once
/// @file
/// What processes tell each other beside the payloads. Plain values, all of one build.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <span>
#include <string_view>

#include "tessera/base/ids.hpp"
#include "tessera/base/text.hpp"
#include "tessera/transport/message.hpp"
#include "tessera/transport/network.hpp"
#include "tessera/transport/waiter.hpp"

namespace tessera::control {

enum class Kind : std::uint8_t {
  invite,
  answer,
  probe,
  finished,
  failed,
  digests,
  compared,
  ask,
  account,
  request,
  reply,
  note
};

/// Some text, cut where it does not fit.
template <std::size_t Size>
struct Text {
  std::array<char, Size> letters{};

  Text() = default;
  explicit Text(std::string_view whole) {
    std::copy_n(whole.begin(), std::min(whole.size(), Size - 1), letters.begin());
  }
  [[nodiscard]] std::string_view view() const { return letters.data(); }
  friend std::ostream& operator<<(std::ostream& out, Text const& text) {
    return out << text.view();
  }
};

/// A statement as another process is told of it.
struct Statement {
  std::uint64_t number = 0;
  std::uint32_t line = 0;
  Text<36> file;

  Statement() = default;
  explicit Statement(StatementTag const& tag);
  friend std::ostream& operator<<(std::ostream& out, Statement const& statement);
};

/// A wait as another process is told of it.
struct Edge {
  Awaited::Kind kind = Awaited::Kind::other;
  DeviceId self;
  DeviceId peer;
  std::uint64_t count = 0;
  Statement statement;

  Edge() = default;
  explicit Edge(Awaited const& what);
  /// "device 0 waits for device 1 at statement 7 (heat_1d.cpp:41)"
  friend std::ostream& operator<<(std::ostream& out, Edge const& edge);
};

/// The receiver's end of from -> to is there.
struct Invite {
  Kind kind = Kind::invite;
  Route route{};
  DeviceId from;
  DeviceId to;
  std::uint32_t size = 0;
  std::array<std::byte, 800> invitation{};
};

/// The sender has made its end of from -> to, or could not.
struct Answer {
  Kind kind = Kind::answer;
  bool accepted = false;
  DeviceId from;
  DeviceId to;
  Text<512> refusal;
};

/// A thread that waits: a device's, or the one that calls the library in a process of several
/// devices.
struct Node {
  bool is_caller = false;
  std::int64_t number = 0;  ///< of the device or of the process

  friend bool operator==(Node const&, Node const&) = default;
};

/// Follows waits from thread to thread; one that comes back to where it began has found a cycle.
struct Probe {
  Kind kind = Kind::probe;
  Node initiator;
  ProcessId initiator_process;
  std::uint64_t initiator_wait = 0;
  std::uint64_t number = 0;     ///< of the initiator's probes about this wait
  Edge first;                   ///< what the initiator waits for
  Edge last;                    ///< the wait that was followed last; its peer is asked
  std::uint64_t signature = 0;  ///< of all waits followed, with their numbers
  std::uint64_t steps = 0;
  // A probe may run into a cycle that it did not begin in. It ends where it meets a wait that it
  // has noted; the note moves at every power of two. Source: R. P. Brent's cycle finding, 1980.
  Node noted;
  std::uint64_t noted_wait = 0;
};

/// What was asked about will not come: the process is done.
struct Finished {
  Kind kind = Kind::finished;
  Node initiator;
  std::uint64_t initiator_wait = 0;
  Statement last;  ///< the last statement of the process that is done
};

/// A process gives up.
struct Failed {
  Kind kind = Kind::failed;
  bool is_mismatch = false;
  Text<900> why;
};

/// The next statements of a process, for its parent to compare.
struct Digests {
  Kind kind = Kind::digests;
  bool has_ended = false;  ///< the last of them is the end of the program
  std::size_t count = 0;
  std::array<std::uint64_t, 16> list{};
};

/// How many statements of a process have been compared with those of the one that says so.
struct Compared {
  Kind kind = Kind::compared;
  std::uint64_t statements = 0;
};

/// A statement of a process differs: what is it?
struct Ask {
  Kind kind = Kind::ask;
  std::uint64_t number = 0;  ///< of those compared
};

/// The answer.
struct Account {
  Kind kind = Kind::account;
  bool is_end = false;  ///< there is none
  Statement statement;
  Text<512> what;  ///< the rest, for people
};

/// A call of another process.
struct Request {
  Kind kind = Kind::request;
  std::uint32_t size = 0;
  std::array<std::byte, 1000> bytes{};
};

/// Its answer.
struct Reply {
  Kind kind = Kind::reply;
  std::uint32_t size = 0;
  std::array<std::byte, 1000> bytes{};
};

/// What a device's process tells that of another one, beside the payloads.
struct Note {
  Kind kind = Kind::note;
  DeviceId from;
  DeviceId to;
  std::uint32_t size = 0;
  std::array<std::byte, 960> bytes{};
};

template <class Message>
[[nodiscard]] Message read(std::span<std::byte const> bytes) {
  Message message;
  std::memcpy(static_cast<void*>(&message), bytes.data(), std::min(bytes.size(), sizeof message));
  return message;
}

}  // namespace tessera::control
