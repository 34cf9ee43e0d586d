#pragma once
/// @file
/// Heartbeats between hosts: short questions that another process answers while it computes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <netinet/in.h>

#include "src/job/bootstrap.hpp"
#include "src/job/host_address.hpp"
#include "src/job/ipc/progress_thread.hpp"
#include "src/job/job_secret.hpp"
#include "src/liveness/heartbeat_seal.hpp"
#include "src/liveness/heartbeat_watch.hpp"
#include "src/transport/protocol/refused.hpp"

namespace tessera {

/// A process that has waited for one heartbeat asks the awaited process, by a datagram, several
/// times a second, and the progress thread of that process answers. If it does not, other processes
/// of its host are asked about it.
///
/// Silence counts only if an answer has come along this path before: if questions do not get
/// through at all, no process counts as failed. Datagrams are signed. Those that no process of the
/// job has signed, or that have come before, are ignored and counted.
///
/// Threads: any.
class RemoteHeartbeats {
 public:
  /// What makes datagrams believed. Lifetime: `refused` outlives the heartbeats.
  struct Trust {
    JobSecret secret;
    Refused& refused;
  };
  /// A letter as in ProcessState for a process of this host; 0 if there is no such process, '?' if
  /// unknown.
  using StateOf = std::function<char(ProcessId)>;

  /// Opens the socket. A collective over the job, which has several hosts. The thread has not been
  /// started yet.
  RemoteHeartbeats(Bootstrap& bootstrap, ProgressThread& thread, Trust const& trust,
                   StateOf state_of);
  ~RemoteHeartbeats();
  RemoteHeartbeats(RemoteHeartbeats const&) = delete;
  RemoteHeartbeats& operator=(RemoteHeartbeats const&) = delete;

  /// Publishes the address for questions. A collective over the job; call it after the thread was
  /// started.
  void announce_address(Bootstrap& bootstrap);

  /// The address at which this process answers; port 0 if it does not.
  [[nodiscard]] sockaddr_in own_place() const;

  /// Asks once, so that it is known early whether questions get through.
  void greet(ProcessId peer);
  /// Asks from time to time. The reason why `peer` counts as failed, if it does.
  [[nodiscard]] std::optional<std::string> failure_of(ProcessId peer, HeartbeatWatch& watch,
                                                      double silence_seconds);
  /// "process 1 (at 10.0.0.1) has died", if that is known.
  [[nodiscard]] std::optional<std::string> death_of(ProcessId peer);
  /// "process 1 (at 10.0.0.1)"
  [[nodiscard]] std::string name_of(ProcessId peer) const;

  /// Does what a datagram asks or tells, if a process of the job has signed it; anybody may have
  /// sent it. The socket's reader calls it. Throws: nothing.
  void take(std::span<std::byte const> bytes, sockaddr_in const& from);

 private:
  struct Peer {
    std::uint64_t answers = 0;  ///< that show it alive
    std::uint64_t asked_at = 0;
    bool has_been_asked = false;
    bool is_dead = false;    ///< nobody listens at its address, or its host reports it
    char state_of_host = 0;  ///< the last report of another process of its host
  };

  [[nodiscard]] sockaddr_in place_of(ProcessId process) const;
  [[nodiscard]] HostAddress address_of(ProcessId process) const {
    return place_of(process).sin_addr.s_addr;
  }
  void send(ProcessId to, ProcessId about);
  void ask(ProcessId process, Peer& peer);
  void ask_about(ProcessId process);
  [[nodiscard]] bool gets_through(ProcessId process) const;
  [[nodiscard]] std::string reason_for_silence(Peer const& peer) const;

  void read_all();
  void read_refusals();
  void answer(HeartbeatDatagram const& question, sockaddr_in const& from);
  void hear_answer(HeartbeatDatagram const& answer, HostAddress from);

  ProcessId self_;
  StateOf state_of_;
  int socket_ = -1;
  std::int64_t own_place_ = 0;
  Refused& refused_;
  std::span<std::int64_t const> places_;  ///< by rank: address and port; 0 if it does not answer
  std::atomic<std::uint64_t> heartbeats_{0};
  std::mutex mutex_;
  HeartbeatSeal seal_;
  std::map<ProcessId, Peer> peers_;
  std::set<HostAddress> answered_from_;
};

}  // namespace tessera
