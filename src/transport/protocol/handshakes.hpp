#pragma once
/// @file
/// Short messages by which two devices of different processes agree on a route before payloads
/// travel.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "src/job/job.hpp"
#include "src/transport/protocol/control_channel.hpp"
#include "src/transport/protocol/control_messages.hpp"

namespace tessera {

/// The messages of each ordered pair of devices, in their order. Threads: the caller's.
class Handshakes {
 public:
  static constexpr std::size_t max_bytes = sizeof(control::Note::bytes);

  Handshakes(ControlChannel& control_channel, Job const& job)
      : control_channel_(control_channel), job_(job) {}

  /// Sends at most `max_bytes` to the process of `to`. Returns at once.
  void send(DeviceId from, DeviceId to, std::span<std::byte const> bytes);
  /// Throws: BadMessage if it is not from another process's device to one of this process.
  void on_handshake(control::Note const& note);

  /// The number, from 1, of the message that `to` takes next.
  [[nodiscard]] std::uint64_t next(DeviceId from, DeviceId to) {
    return received_[{from, to}].taken + 1;
  }
  /// True if that message has come.
  [[nodiscard]] bool has_next(DeviceId from, DeviceId to) {
    return !received_[{from, to}].waiting.empty();
  }
  /// Takes it; it has come.
  [[nodiscard]] std::vector<std::byte> take(DeviceId from, DeviceId to);

  /// True if a device of this process has sent what `edge` waits for.
  [[nodiscard]] bool is_satisfied(control::Edge const& edge) const;

 private:
  using Pair = std::pair<DeviceId, DeviceId>;  ///< sender, receiver
  struct Received {
    std::deque<std::vector<std::byte>> waiting;
    std::uint64_t taken = 0;
  };

  ControlChannel& control_channel_;
  Job const& job_;
  std::map<Pair, Received> received_;
  std::map<Pair, std::uint64_t> sent_;
};

}  // namespace tessera
