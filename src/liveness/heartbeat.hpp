#pragma once
/// @file
/// Heartbeats of the other processes.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "src/job/bootstrap.hpp"
#include "src/job/ipc/descriptor_server.hpp"
#include "src/job/ipc/process_state.hpp"
#include "src/job/ipc/progress_thread.hpp"
#include "src/job/ipc/shared_segment.hpp"
#include "src/liveness/heartbeat_watch.hpp"
#include "src/liveness/remote_heartbeat.hpp"
#include "src/transport/host_memory/segment_directory.hpp"

namespace tessera {

/// A page per process in which the progress thread counts heartbeats, and the pages of the peers
/// on this host; peers on other hosts are asked by datagrams.
///
/// A waiting thread counts the heartbeats of its own process while the peer's count stands still.
/// So a job that is suspended as a whole sees no failure, and the length of a heartbeat under load
/// cancels out.
///
/// Silence finds processes that have stopped and links that are cut. A process that has died is
/// found sooner: by /proc on this host, by a refused datagram on another.
///
/// Threads: any.
class Heartbeats {
 public:
  static constexpr auto interval = ProgressThread::interval;

  /// A collective over the job. Starts the thread if any other process can see its heartbeat.
  Heartbeats(Bootstrap& bootstrap, ProgressThread& thread,
             DescriptorServer const& descriptor_server, RemoteHeartbeats::Trust const& trust);
  ~Heartbeats();
  Heartbeats(Heartbeats const&) = delete;
  Heartbeats& operator=(Heartbeats const&) = delete;

  [[nodiscard]] bool has_other_hosts() const { return remote_.has_value(); }
  /// Called when a channel leads to `peer`: finds out whether its heartbeat is visible.
  void greet(ProcessId peer);
  /// Returns the reason why `peer` counts as failed, if it does.
  [[nodiscard]] std::optional<std::string> failure_of(ProcessId peer, HeartbeatWatch& watch,
                                                      double silence_seconds);
  /// Returns "process 1 (pid 1234) has died", if that is known.
  [[nodiscard]] std::optional<std::string> death_of(ProcessId peer);
  /// Returns "process 1 (pid 1234)".
  [[nodiscard]] std::string name_of(ProcessId peer) const;

  /// Publishes a segment of this process to the others of this host.
  void show_directory(SegmentTicket const& ticket);
  /// Returns that segment of another process of this host; nothing, with the reason, if it cannot
  /// be had.
  [[nodiscard]] std::optional<SegmentTicket> directory_of(ProcessId peer, std::string& reason);
  /// Both of these, as the shared blocks of this process use them. Lifetime: as long as this.
  [[nodiscard]] SegmentDirectory directory();
  /// True if `peer` is another process of this host and its memory can be mapped.
  [[nodiscard]] bool sees(ProcessId peer);

  /// Declares that the end of this process is no failure from now on.
  void leave();

 private:
  struct Page {
    std::atomic<std::uint64_t> heartbeats;
    std::atomic<bool> has_thread;
    std::atomic<bool> has_left;
    std::atomic<std::int64_t> directory;  ///< descriptor + 1; 0 until there is one
    std::atomic<std::int64_t> directory_bytes;
    std::atomic<std::uint64_t> directory_nonce;
  };
  struct PeerEntry {
    SegmentTicket ticket;
    bool shares_pid_namespace = false;
    bool is_page_requested = false;
    Segment segment;
    std::uint64_t started = 0;

    [[nodiscard]] Page const* page() const {
      return segment ? reinterpret_cast<Page const*>(segment.data()) : nullptr;
    }
  };

  void start_thread(Bootstrap& bootstrap);
  void exchange_tickets(Bootstrap& bootstrap);
  /// Returns the data that the peer has published, if it is on this host.
  [[nodiscard]] std::optional<PeerEntry> introduced(ProcessId peer) const;
  /// Returns the state letter of a process of this host, as reported to other hosts.
  [[nodiscard]] char state_letter(ProcessId peer);
  [[nodiscard]] bool is_remote(ProcessId peer) const;
  /// Returns the entry of a process, if it is another one of this host.
  [[nodiscard]] PeerEntry* entry_of(ProcessId peer);
  /// Maps its page at the first call.
  void need_page(PeerEntry& entry) const;
  [[nodiscard]] std::optional<std::string> failure_on_this_host(ProcessId peer,
                                                                PeerEntry const& entry,
                                                                HeartbeatWatch& watch,
                                                                double silence_seconds);
  /// Returns nothing if it is dead, and a state without a letter if process ids are not comparable.
  [[nodiscard]] static std::optional<ProcessState> live_state(PeerEntry const& entry);
  [[nodiscard]] Page& own() const { return *reinterpret_cast<Page*>(own_.data()); }

  ProcessId self_;
  ProgressThread& thread_;
  DescriptorServer const& descriptor_server_;
  Segment own_;
  std::mutex peers_mutex_;
  std::map<ProcessId, PeerEntry> peers_;    ///< those that were asked about
  std::span<ProcessId const> on_host_;      ///< by rank
  std::span<std::int64_t const> tickets_;   ///< of all of them, equally many each
  std::optional<RemoteHeartbeats> remote_;  ///< where there are other hosts
};

}  // namespace tessera
