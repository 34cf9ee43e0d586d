#pragma once
/// @file
/// Control messages between processes, beside the payloads. Plain values; all processes run the
/// same build. What arrives is data from outside: `read` checks what a message says about itself,
/// and its handler what it says about the job.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <span>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/ids.hpp"

#include "src/base/text.hpp"
#include "src/transport/protocol/awaited.hpp"
#include "src/transport/protocol/message.hpp"
#include "src/transport/protocol/route.hpp"

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
  description,
  request,
  reply,
  note
};

/// A message that no process of this job sends. Its words follow "process 3 sent ".
class BadMessage final : public TransportError {
 public:
  using TransportError::TransportError;
};

/// True or false in a message. Any byte is one of them.
class Flag {
 public:
  Flag() = default;
  Flag(bool value) : byte_(value ? 1 : 0) {}    // NOLINT: a bool that travels
  operator bool() const { return byte_ != 0; }  // NOLINT

 private:
  std::uint8_t byte_ = 0;
};

/// A text of limited length, truncated if too long. Any letters are one.
template <std::size_t Size>
struct Text {
  std::array<char, Size> letters{};

  Text() = default;
  explicit Text(std::string_view whole) {
    std::copy_n(whole.begin(), std::min(whole.size(), Size - 1), letters.begin());
  }
  [[nodiscard]] std::string_view view() const {
    return {letters.data(), ::strnlen(letters.data(), Size)};
  }
  /// For people: as `excerpt`, in several lines if it has them. Letters that are no text take four
  /// times their room.
  friend std::ostream& operator<<(std::ostream& out, Text const& text) {
    return out << excerpt(text.view(), Size, "\n");
  }
};

/// A statement in a control message.
struct Statement {
  std::uint64_t number = 0;
  std::uint32_t line = 0;
  Text<36> file;

  Statement() = default;
  explicit Statement(StatementTag const& tag);
  friend std::ostream& operator<<(std::ostream& out, Statement const& statement);
};

/// A wait in a control message.
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

/// The receiver has made its end of from -> to.
struct Invite {
  Kind kind = Kind::invite;
  Route route{};
  DeviceId from;
  DeviceId to;
  std::uint32_t size = 0;
  std::array<std::byte, 800> invitation{};

  void check() const;
};

/// The sender has made its end of from -> to, or has failed to.
struct Answer {
  Kind kind = Kind::answer;
  Flag accepted;
  DeviceId from;
  DeviceId to;
  Text<512> reason;
};

/// A thread that waits: a device's, or the one that calls the library in a process of several
/// devices.
struct Node {
  Flag is_caller;
  std::int64_t number = 0;  ///< of the device or of the process

  friend bool operator==(Node const& a, Node const& b) {
    return bool{a.is_caller} == bool{b.is_caller} && a.number == b.number;
  }
};

/// A deadlock probe: follows waits from thread to thread; a probe that returns to its origin has
/// found a cycle.
struct Probe {
  Kind kind = Kind::probe;
  Node initiator;
  ProcessId initiator_process;
  std::uint64_t initiator_wait = 0;
  std::uint64_t number = 0;     ///< of the initiator's probes about this wait
  Edge first;                   ///< what the initiator waits for
  Edge last;                    ///< the last wait followed; its peer receives the probe
  std::uint64_t signature = 0;  ///< of all waits followed, with their numbers
  std::uint64_t steps = 0;
  // A probe may enter a cycle that it did not start in. It ends when it reaches the wait that it
  // has noted; it renews the note at every power of two. Source: R. P. Brent's cycle finding, 1980.
  Node noted;
  std::uint64_t noted_wait = 0;
};

/// The awaited event will not happen: the process is done.
struct Finished {
  Kind kind = Kind::finished;
  Node initiator;
  std::uint64_t initiator_wait = 0;
  Statement last;  ///< the last statement of the process that is done
};

/// A process gives up.
struct Failed {
  Kind kind = Kind::failed;
  Flag is_mismatch;
  Flag is_passed_on;  ///< another process gave up first, and `why` names it already
  Text<900> why;
};

/// Hashes of a process's next statements, for its parent to compare.
struct Digests {
  Kind kind = Kind::digests;
  Flag has_ended{};  ///< the last of them is the end of the program
  Flag waits{};      ///< the sender continues when all so far have been compared
  std::size_t count = 0;
  std::array<std::uint64_t, 16> list{};

  void check() const;
};

/// The number of a process's statements that the sender of this message has compared with its own.
struct Compared {
  Kind kind = Kind::compared;
  std::uint64_t statements = 0;
};

/// Requests the description of a statement that differs.
struct Ask {
  Kind kind = Kind::ask;
  std::uint64_t number = 0;  ///< of those compared
};

/// The answer.
struct StatementDescription {
  Kind kind = Kind::description;
  Flag is_end;  ///< there is none
  Statement statement;
  Text<512> what;  ///< the rest, for people
};

/// A call of another process.
struct Request {
  Kind kind = Kind::request;
  std::uint32_t size = 0;
  std::array<std::byte, 1000> bytes{};

  void check() const;
};

/// Its answer.
struct Reply {
  Kind kind = Kind::reply;
  std::uint32_t size = 0;
  std::array<std::byte, 1000> bytes{};

  void check() const;
};

/// A handshake message from one device's process to another's.
struct Note {
  Kind kind = Kind::note;
  DeviceId from;
  DeviceId to;
  std::uint32_t size = 0;
  std::array<std::byte, 960> bytes{};

  void check() const;
};

/// What message the bytes are. Throws: BadMessage if they are none.
[[nodiscard]] Kind kind_of(std::span<std::byte const> bytes);

[[noreturn]] void refuse_size(std::size_t bytes, std::size_t expected);

/// The message: of its own size, and with sizes and numbers that fit it. Throws: BadMessage.
template <class Message>
[[nodiscard]] Message read(std::span<std::byte const> bytes) {
  Message message;
  if (bytes.size() != sizeof message) refuse_size(bytes.size(), sizeof message);
  std::memcpy(static_cast<void*>(&message), bytes.data(), sizeof message);
  if constexpr (requires { message.check(); }) message.check();
  return message;
}

}  // namespace tessera::control
