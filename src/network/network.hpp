#pragma once
/// @file
/// All channels of this process. The first plan that names a pair of devices opens its channel,
/// over the best available route.

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/job/bootstrap.hpp"
#include "src/job/job.hpp"
#include "src/job/job_secret.hpp"
#include "src/transport/channel/channel.hpp"
#include "src/transport/host_memory/shared_blocks.hpp"
#include "src/transport/network_options.hpp"
#include "src/transport/protocol/failure.hpp"
#include "src/transport/protocol/refused.hpp"
#include "src/transport/protocol/waiter.hpp"
#include "src/transport/rpc/remote_calls.hpp"

namespace tessera {

struct TransportTestHooks;  // src/transport/test_hooks.hpp

/// The channels, waits and progress of one process.
///
/// Threads: only the caller's thread, except for the waits of the waiters.
class Network {
 public:
  /// A collective over the job.
  /// Throws: ConfigError on every process alike if the forced route cannot join them.
  Network(Bootstrap& bootstrap, Job const& job, NetworkOptions const& options);
  /// The same, joined as the hooks say.
  Network(Bootstrap& bootstrap, Job const& job, NetworkOptions const& options,
          TransportTestHooks const& hooks);
  ~Network();
  Network(Network const&) = delete;
  Network& operator=(Network const&) = delete;

  /// The sending end of the channel `from` -> `to`; `from` is a device of this process. The first
  /// call opens it, and waits until the process of `to` opens its end: both do so for the same
  /// statement. Lifetime: as long as the network. Throws: PeerFailed, Mismatch.
  [[nodiscard]] Sender& sender(DeviceId from, DeviceId to, StatementTag const& tag);
  /// The receiving end of `from` -> `to`; `to` is a device of this process. Returns at once.
  [[nodiscard]] Receiver& receiver(DeviceId from, DeviceId to);
  /// The route the channel between two devices takes or would take; a pure function of the job, the
  /// options and which mappings have failed.
  [[nodiscard]] Route route(DeviceId from, DeviceId to) const;
  /// The reason for that route, for people: "shm: a segment of process 1 was mapped". More detailed
  /// once the channel is open.
  [[nodiscard]] std::string route_reason(DeviceId from, DeviceId to) const;
  /// True if waiting threads of this host must share cores, so that waits yield at once.
  [[nodiscard]] bool shares_cores() const;
  /// The payload of one message between two devices: from the options, or else a constant of the
  /// best route. A substitute route keeps the same constant.
  [[nodiscard]] std::int64_t slot_bytes(DeviceId from, DeviceId to) const;

  static constexpr std::int64_t max_handshake_bytes = 960;
  /// Sends the process of `to` a control message of a few bytes about a device of this process, for
  /// bring-up. Returns at once. Only between different processes.
  void send_handshake(DeviceId from, DeviceId to, std::span<std::byte const> note);
  /// Waits for the next control message from `from` to `to`, a device of this process. Both ends
  /// call this in the same statement. Throws: PeerFailed, Mismatch.
  [[nodiscard]] std::vector<std::byte> receive_handshake(DeviceId from, DeviceId to,
                                                         StatementTag const& tag);

  /// The waiter of a local device's worker thread.
  [[nodiscard]] Waiter& worker_wait_policy(DeviceId device);
  /// The waiter of the caller's thread: its unsuccessful polls drive the transports and serve other
  /// processes.
  [[nodiscard]] Waiter& caller_wait_policy();

  /// Sets the test that says whether the worker of a local device is idle; then other devices that
  /// wait for this device depend on the caller's thread. Needed with several local devices, so that
  /// the deadlock detector finds cycles through a caller's thread.
  void set_idle_test(std::function<bool(DeviceId)> is_idle);

  /// Makes progress on all transports. Cheap if nothing is under way.
  void progress();
  /// True while sends or receives that need this process's calls are under way.
  [[nodiscard]] bool has_pending() const;

  /// Waits until all sent messages have left this process, so that it need not drive the network
  /// for a while. Throws: PeerFailed, Mismatch.
  void drain(StatementTag const& tag);

  /// Sets the last statement that this process began; other processes receive it on request.
  void set_last_statement(StatementTag const& tag);
  /// True if any process of the job asked for comparisons.
  [[nodiscard]] bool compares_statements() const;
  /// The same of comparisons of numbers.
  [[nodiscard]] bool compares_numbers() const;
  /// Announces the next statement of this process for comparison with the others, if statements are
  /// compared. Returns at once, unless another process is far behind. `what` is called for a
  /// description only if there is a difference, possibly later.
  ///
  /// Throws: Mismatch on every process, now or in a later wait, with the statements of two of them,
  ///         unless all announce the same statements in the same order; PeerFailed.
  void agree(StatementTag const& tag, std::function<std::string()> what);
  /// Waits until all announcements of this process so far have been compared with those of its
  /// neighbours in a tree of the processes. `tag`: the last of them.
  /// Throws: Mismatch as `agree`; PeerFailed.
  void catch_up(StatementTag const& tag);
  /// The same at the end of the program; waits until all announcements of this process have been
  /// compared with those of its neighbours in a tree of the processes.
  void agree_on_end(StatementTag const& tag, std::function<std::string()> what);

  /// Tells every process on request that this one is done, and serves requests until all processes
  /// are done. Called once, after the workers have finished all their tasks.
  /// Throws: PeerFailed if a process of this host with which it has channels dies meanwhile, and
  ///         any failure that another process announces.
  void finish();

  /// Informs every process at the other end of a channel, open or not yet, and a few more, why this
  /// one gives up: their waits throw Mismatch if `error` is one, else PeerFailed, quoting it. They
  /// announce it in turn, so it reaches all processes. Returns at once; the messages leave with the
  /// next calls into the network. Cost: O(peers + log processes) messages.
  void announce_failure(std::exception_ptr const& error);

  /// After a failure, keeps making progress for `time`, so that announcements go out and other
  /// processes can report theirs before the job is aborted.
  void serve_for(std::chrono::milliseconds time) noexcept;
  /// How long to wait for the other processes: where all live, and where a peer has died.
  struct Limits {
    std::chrono::seconds beside_living;
    std::chrono::seconds beside_dead;
  };
  /// Makes progress as `serve_for` until every process of the job has called this or `finish`, so
  /// that each can write its files before one of them aborts the job.
  void serve_until_all_end(Limits limits) noexcept;

  /// What only processes of this job know.
  [[nodiscard]] JobSecret const& secret() const;
  /// What has come from others and was not believed.
  [[nodiscard]] Refused const& refused() const;

  /// The first failure of this process; every wait checks it.
  [[nodiscard]] Failure& failure();

  /// The processes of this host by rank, including this one.
  [[nodiscard]] std::span<ProcessId const> host_processes() const;
  /// True if processes of a host may map each other's memory: no other route is forced.
  [[nodiscard]] bool may_share_memory() const;
  /// The memory blocks that this process shares with the others of its host. Only if memory may be
  /// shared.
  [[nodiscard]] SharedBlocks& shared_blocks();
  /// True if the memory of the next process of this host can be mapped, or there is none.
  [[nodiscard]] bool sees_next_process();

  /// Prepares a thread that answers calls of other processes. If that is impossible, the result
  /// says why. Called once. Ranks: collective, as `open_calls`.
  [[nodiscard]] std::string prepare_calls(Serve const& serve);
  /// Enables calls between processes. If `by_threads`, threads answer them, and all processes must
  /// have prepared theirs; otherwise the callers' threads answer while they wait.
  /// Ranks: collective; for bring-up, after a point that all processes have passed.
  void open_calls(bool by_threads, Serve const& serve);
  /// The calls; null until `open_calls`.
  [[nodiscard]] Calls* calls();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
