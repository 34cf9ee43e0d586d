#pragma once
/// @file
/// All channels of this process, each opened by the first plan that names its pair of devices, over
/// the best route there is.

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/transport/bootstrap.hpp"
#include "tessera/transport/calls.hpp"
#include "tessera/transport/channel.hpp"
#include "tessera/transport/failure.hpp"
#include "tessera/transport/job.hpp"
#include "tessera/transport/shared_blocks.hpp"
#include "tessera/transport/waiter.hpp"

namespace tessera {

class Transport;

/// How channels are made and how long waits may be.
struct NetworkOptions {
  std::optional<Route> forced;  ///< between processes, from TESSERA_ROUTE
  std::int64_t slot_bytes = 0;  ///< TESSERA_SLOT_BYTES: of every channel; 0: what the route likes
  double stall_seconds = 30;    ///< TESSERA_STALL: a late peer is spoken of after this
  double silence_seconds = 10;  ///< TESSERA_SILENCE: a peer without a beat has failed after this
  double question_seconds = 1;  ///< waits longer than this ask the peer what it waits for
  /// TESSERA_CHECK=communication: all processes compare what they are about to do.
  bool compares_statements = false;
  /// For tests: one route per ordered pair of devices, before `forced`.
  std::function<std::optional<Route>(DeviceId from, DeviceId to)> forced_pair;
  /// For tests: ways to the memory of another process of the host that are not there.
  bool maps_by_proc = true;
  bool maps_by_socket = true;
  /// For tests: what carries all messages between processes, in place of every other transport.
  std::function<std::unique_ptr<Transport>(Bootstrap& bootstrap)> carrier;

  /// Slots hold at least what a partial result of a reduction needs.
  static constexpr std::int64_t least_slot_bytes = 128;
  static constexpr std::int64_t most_slot_bytes = std::int64_t{1} << 30;

  /// Reads TESSERA_ROUTE, TESSERA_SLOT_BYTES, TESSERA_STALL, TESSERA_SILENCE and TESSERA_CHECK.
  /// Throws: ConfigError for a variable that cannot be read.
  [[nodiscard]] static NetworkOptions from_environment();
};

/// True if the library can send so, in a job whose hosts and launcher allow it.
[[nodiscard]] bool is_built(Route route);

/// The channels, waits and progress of one process.
///
/// Threads: everything but the waiters' waits is for the caller's thread.
class Network {
 public:
  /// A collective over the job.
  /// Throws: ConfigError on every process alike if the forced route cannot join them.
  Network(Bootstrap& bootstrap, Job const& job, NetworkOptions const& options);
  ~Network();
  Network(Network const&) = delete;
  Network& operator=(Network const&) = delete;

  /// The sending end of the channel `from` -> `to`; `from` is a device of this process. Opened at
  /// the first call, which waits until the process of `to` opens its end: both do so for the same
  /// statement. Lifetime: as long as the network. Throws: PeerFailed, Mismatch.
  [[nodiscard]] Sender& sender(DeviceId from, DeviceId to, StatementTag const& tag);
  /// The receiving end of `from` -> `to`; `to` is a device of this process. Returns at once.
  [[nodiscard]] Receiver& receiver(DeviceId from, DeviceId to);
  /// The route the channel between two devices takes or would take; a pure function of the job, the
  /// options and which mappings have failed.
  [[nodiscard]] Route route(DeviceId from, DeviceId to) const;
  /// Why it is that route, for people: "shm: a segment of process 1 was mapped". Says more once the
  /// channel is open.
  [[nodiscard]] std::string route_reason(DeviceId from, DeviceId to) const;
  /// True if threads of this host that wait have to share cores, so that waits yield at once.
  [[nodiscard]] bool shares_cores() const;
  /// The payload of one message between two devices: what the options say, else a constant of the
  /// best route, which is also kept where another one has to stand in for it.
  [[nodiscard]] std::int64_t slot_bytes(DeviceId from, DeviceId to) const;

  static constexpr std::int64_t max_note_bytes = 960;
  /// Tells the process of `to` a few bytes about a device of this process, for bring-up. Returns at
  /// once. From and to other processes.
  void tell(DeviceId from, DeviceId to, std::span<std::byte const> note);
  /// Waits for the next note from `from` to `to`, a device of this process. Both ends come to it in
  /// the same statement. Throws: PeerFailed, Mismatch.
  [[nodiscard]] std::vector<std::byte> hear(DeviceId from, DeviceId to, StatementTag const& tag);

  /// The waiter of a local device's worker thread.
  [[nodiscard]] Waiter& worker_waiter(DeviceId device);
  /// The waiter of the caller's thread: its empty looks drive the transports and serve other
  /// processes.
  [[nodiscard]] Waiter& caller_waiter();

  /// How to see that the worker of a local device has nothing to do, so that what other devices
  /// await of it depends on the caller's thread. Needed with several local devices, for cycles that
  /// lead through a caller's thread to be found.
  void set_idle_test(std::function<bool(DeviceId)> is_idle);

  /// Moves what can be moved. Cheap where nothing is under way.
  void progress();
  /// True while sends or receives that need this process's calls are under way.
  [[nodiscard]] bool has_pending() const;

  /// Waits until everything that was put has left this process, so that it may leave the network to
  /// itself for a while. Throws: PeerFailed, Mismatch.
  void drain(StatementTag const& tag);

  /// The last statement this process began; other processes are told it when they ask.
  void set_last_statement(StatementTag const& tag);
  /// True if any process of the job asked for comparisons.
  [[nodiscard]] bool compares_statements() const;
  /// Says what this process is about to do, to be compared with what the others do, where
  /// statements are compared. Returns at once but where another process is far behind. `what` is
  /// asked for words only where there is a difference, perhaps later.
  ///
  /// Throws: Mismatch on every process, now or in a later wait, with what two of them did, unless
  ///         all say the same in the same order; PeerFailed.
  void agree(StatementTag const& tag, std::function<std::string()> what);
  /// The same at the end of the program, and waits until all that this process said has been
  /// compared with its neighbours in a tree of the processes.
  void agree_on_end(StatementTag const& tag, std::function<std::string()> what);

  /// Tells every process that asks that this one is done, and waits, serving, until all are. Called
  /// once, when the workers have done everything they were given.
  /// Throws: PeerFailed if a process of this host that it has channels with dies meanwhile, and
  ///         whatever another process announces.
  void finish();

  /// Tells every process at the other end of a channel, open or not yet, why this one gives up:
  /// their waits throw Mismatch if `error` is one, else PeerFailed, quoting it. They announce it in
  /// turn, so it reaches everybody. Returns at once; the messages leave with the next calls into
  /// the network.
  void announce_failure(std::exception_ptr const& error);

  /// Serves the other processes for so long, after a failure: what was announced leaves, and they
  /// can speak before the job is aborted.
  void linger(std::chrono::milliseconds time) noexcept;

  /// The first failure of this process; every wait looks at it.
  [[nodiscard]] Failure& failure();

  /// The processes of this host by rank, this one among them.
  [[nodiscard]] std::span<ProcessId const> host_processes() const;
  /// True if processes of a host may map each other's memory: no other route is forced.
  [[nodiscard]] bool may_share_memory() const;
  /// What this process shows to the others of its host. Only where memory may be shared.
  [[nodiscard]] SharedBlocks& shared_blocks();
  /// True if the memory of the next process of this host can be mapped, or there is none.
  [[nodiscard]] bool sees_next_process();

  /// Begins to answer calls of other processes, from a thread of its own; where that cannot be, the
  /// result says why. Called once. Ranks: collective, as `open_calls`.
  [[nodiscard]] std::string prepare_calls(Serve const& serve);
  /// From now on processes can call each other: answered by threads if `by_threads`, which all must
  /// have been able to prepare, else by the callers' threads while they wait.
  /// Ranks: collective; for bring-up, behind something that all have come to.
  void open_calls(bool by_threads, Serve const& serve);
  /// Null until they are open.
  [[nodiscard]] Calls* calls();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
