#pragma once
/// @file
/// The datagrams by which processes of several hosts ask whether another one lives, and the codes
/// by which they believe each other.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "tessera/base/ids.hpp"

#include "src/job/job_secret.hpp"
#include "src/transport/protocol/replay_window.hpp"

namespace tessera {

/// A question or an answer as it is sent. All processes run the same build.
struct HeartbeatDatagram {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t about = 0;
  std::uint64_t counter = 0;  ///< of the questions, or of the answers, of `from` to `to`, from 1
  bool is_answer = false;
  char state = '?';  ///< in an answer: of `about`
  Mac mac{};         ///< over all the rest
};

/// Signs the datagrams of a process and checks those of others.
///
/// Threads: one at a time. Cost: two short hashes for a datagram, whoever sent it; memory only for
/// processes of the job.
class HeartbeatSeal {
 public:
  HeartbeatSeal(JobSecret const& secret, ProcessId self, std::int64_t process_count)
      : secret_(secret), self_(self), process_count_(process_count) {}

  /// Gives the datagram its sender, this process, its counter and its code.
  void sign(HeartbeatDatagram& datagram);
  /// The datagram that another process of the job sent to this one; nothing if the bytes are not
  /// one, or have come before.
  [[nodiscard]] std::optional<HeartbeatDatagram> open(std::span<std::byte const> bytes);
  /// The question of this process that came back, because nobody listens where it was sent; nothing
  /// if the bytes are not one of its latest, or have come back before.
  [[nodiscard]] std::optional<HeartbeatDatagram> returned(std::span<std::byte const> bytes);

 private:
  using Window = ReplayWindow<64>;
  struct Peer {
    std::uint64_t questions_sent = 0;
    std::uint64_t answers_sent = 0;
    Window questions;
    Window answers;
    Window returned;
  };

  [[nodiscard]] std::optional<HeartbeatDatagram> read(std::span<std::byte const> bytes) const;
  [[nodiscard]] Mac mac_of(HeartbeatDatagram const& datagram) const;
  [[nodiscard]] bool is_in_job(std::int64_t process) const {
    return process >= 0 && process < process_count_;
  }

  JobSecret secret_;
  ProcessId self_;
  std::int64_t process_count_;
  std::map<ProcessId, Peer> peers_;  ///< those that this process has sent to or heard of
};

}  // namespace tessera
