#pragma once
/// @file
/// The paths that messages take between two devices. `connect` chooses the path of a message;
/// an exchange then goes through the same steps on every device:
///
///     begin_sends       packs on the GPU; also sends between GPUs (nothing for host slots)
///     put_pieces,       move pieces through the slots of channels, round by round
///     take_pieces
///     finish_receives   unpacks what has arrived into its cells

#include <cstdint>
#include <span>

#include "src/execution/compiled_statement.hpp"

namespace tessera {

struct DeviceTask;

/// Messages of a task's plan.
struct PathMessages {
  std::span<Message const> sends;
  std::span<Message const> receives;
  std::span<PathUse const> paths = {};  ///< where they take several
};

/// One path of messages. Has no state of its own.
///
/// Threads: any; a task's calls come from the thread of its device.
/// Throws:  PeerFailed, Mismatch, DeviceError, from any step.
class MessagePath {
 public:
  MessagePath() = default;
  virtual ~MessagePath() = default;
  MessagePath(MessagePath const&) = delete;
  MessagePath& operator=(MessagePath const&) = delete;

  /// Sends and receives the messages: goes through all steps.
  virtual void exchange(DeviceTask& task, PathMessages const& messages) const = 0;

  virtual void begin_sends(DeviceTask&, PathMessages const&) const {}
  /// Puts piece `round` of every message into a slot. Returns whether there is a next piece.
  virtual bool put_pieces(DeviceTask&, PathMessages const&, std::int64_t /*round*/) const {
    return false;
  }
  /// Takes piece `round` of every message from its slot. Returns whether there is a next piece.
  virtual bool take_pieces(DeviceTask&, PathMessages const&, std::int64_t /*round*/) const {
    return false;
  }
  virtual void finish_receives(DeviceTask&, PathMessages const&) const {}

  /// True if all of a message can be sent before any of it is received.
  [[nodiscard]] virtual bool holds_whole(Message const&) const { return true; }
};

/// Makes an exchange of the steps of `Path`, which derives from this and is final. Round r puts
/// piece r to every peer, then takes piece r from every peer: with two slots per channel and as
/// many rounds as the longest message needs, no two devices wait for each other.
///
/// Calls the steps by the path's own type, so that an exchange costs one virtual call.
template <class Path>
class PathSteps : public MessagePath {
 public:
  void exchange(DeviceTask& task, PathMessages const& messages) const final {
    auto const& path = static_cast<Path const&>(*this);
    path.Path::begin_sends(task, messages);
    for (std::int64_t round = 0;; ++round) {
      bool const sends_more = path.Path::put_pieces(task, messages, round);
      bool const takes_more = path.Path::take_pieces(task, messages, round);
      if (!sends_more && !takes_more) break;
    }
    path.Path::finish_receives(task, messages);
  }
};

/// Returns the path through the slots of channels, from host to host.
[[nodiscard]] MessagePath const& slot_path();

[[nodiscard]] inline PathMessages messages_of(Exchange const& exchange) {
  return {exchange.sends, exchange.receives, exchange.paths};
}
/// Those of them that take one path.
[[nodiscard]] inline PathMessages messages_of(PathMessages const& all, PathUse const& use) {
  return {all.sends.subspan(use.first_send, use.send_count),
          all.receives.subspan(use.first_receive, use.receive_count)};
}

/// Returns the bytes of piece `round` of a message that travels in slots of `slot_bytes`; 0 past
/// the message's end.
[[nodiscard]] std::int64_t piece_bytes(Message const& message, std::int64_t slot_bytes,
                                       std::int64_t round);
/// True if a message fits into the slots of its channel.
[[nodiscard]] bool fits_into_slots(Message const& message);

}  // namespace tessera
