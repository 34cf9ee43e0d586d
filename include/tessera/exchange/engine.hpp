#pragma once
/// @file
/// Carries out statements on this process's devices. There is one engine, owned by the Runtime.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "tessera/device/caches.hpp"
#include "tessera/device/device_kind.hpp"
#include "tessera/exchange/counters.hpp"
#include "tessera/exchange/loop.hpp"
#include "tessera/exchange/statement.hpp"
#include "tessera/exchange/watcher.hpp"
#include "tessera/plan/explanation.hpp"
#include "tessera/transport/bootstrap.hpp"
#include "tessera/transport/job.hpp"
#include "tessera/transport/network.hpp"

namespace tessera {

class OneSided;
struct LocalDevices;

namespace detail {
class BudgetStack;
}  // namespace detail

/// What all processes meet for, besides statements; equal on all of them.
struct Meeting {
  char const* purpose = "";   ///< as "which reads cells"; of static storage
  std::uint64_t array = 0;    ///< the number of the one that it is about; 0: of none
  std::uint64_t details = 0;  ///< a hash of what else has to be equal
};

/// Plans, posts and waits.
///
/// Ranks:   statements, arrays and what runs over processes are collective over the job, in the
///          same order on every process; synchronize, counters and on_local_devices are local.
/// Threads: the caller's thread only.
class Engine {
 public:
  Engine(Bootstrap& bootstrap, LocalDevices const& devices, NetworkOptions const& options);
  ~Engine();
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  [[nodiscard]] Job const& job() const;
  [[nodiscard]] DeviceKind device_kind() const;
  [[nodiscard]] Network& network();
  [[nodiscard]] Counters counters() const;

  /// An array's state with room for its cells, which are not set.
  /// Throws: ShardingError if the mesh names a device that the job does not have; ShapeError,
  ///         ShardingError as Layout; DeviceError if the memory cannot be had.
  [[nodiscard]] std::shared_ptr<ArrayState> make_array(std::shared_ptr<Layout const> layout,
                                                       std::int64_t element_bytes);
  /// An array whose cells lie in the caller's memory.
  /// Throws: ShardingError as make_array.
  [[nodiscard]] std::shared_ptr<ArrayState> adopt_array(std::shared_ptr<Layout const> layout,
                                                        std::int64_t element_bytes,
                                                        std::span<BorrowedBox const> borrowed);
  /// Whether cells of a device of this process can lie at an address. Ranks: local.
  [[nodiscard]] bool reaches(DeviceId device, std::byte const* address) const;
  [[nodiscard]] std::shared_ptr<ScalarState> make_scalar();

  /// An empty statement to be filled in; the same object every time.
  [[nodiscard]] Statement& new_statement();
  /// Plans it if it is new, then runs it: before this returns with one local device, later on the
  /// workers with several. A statement that involves MPI returns when this process's sends and
  /// receives for it are complete.
  /// Throws: PeerFailed, Mismatch, and whatever failed before on this process; BudgetExceeded,
  ///         alike on every process and with nothing sent.
  void run(Statement const& statement);

  /// Runs blocks of a loop's steps, and waits for their end. Nothing else names its arrays
  /// meanwhile. Throws: PeerFailed, Mismatch, and whatever failed before on this process.
  void run(LoopRun const& run);
  /// Makes room for ghost cells of an array, at least so wide. Waits for the statements so far.
  void grow(ArrayState& array, GhostWidths const& widths);
  /// How many references to an array there are, but for the engine's own. Waits for the statements
  /// so far. Ranks: local; equal on all processes that hold alike.
  [[nodiscard]] std::int64_t holders(std::shared_ptr<ArrayState> const& array);
  [[nodiscard]] std::int64_t holders(std::shared_ptr<ScalarState> const& scalar);
  /// From now on, tells `watcher` what the program does; null for nobody. Returns the one before.
  Watcher* tell(Watcher* watcher);
  /// True while somebody is told.
  [[nodiscard]] bool is_told() const;
  /// Opens the channels of a loop. Ranks: collective. Throws: PeerFailed, Mismatch.
  void open_channels(Loop& loop);
  /// The time in which all processes can meet, at best: what a message between neighbours takes or
  /// somewhat more. Equal on all of them; 0 in a job of one process.
  /// Ranks: collective. Throws: PeerFailed, Mismatch.
  [[nodiscard]] double meeting_seconds();
  /// The least that the caches of any process are, so equal on all of them.
  /// Ranks: collective, the first time. Throws: PeerFailed, Mismatch.
  [[nodiscard]] Caches least_caches();
  /// What may refuse a statement, for people: "a CommunicationBudget", "TESSERA_STRICT"; empty if
  /// nothing does.
  [[nodiscard]] std::string_view refuser() const;
  /// True if some process is told TESSERA_CHECK=recording.
  [[nodiscard]] bool checks_recordings() const;

  /// Waits until all statements so far have been carried out by this process's devices.
  void synchronize();
  /// Calls `f` for each local device, on its worker, and returns when all are done. The first
  /// exception of `f` is thrown here; other devices finish first.
  void on_local_devices(std::function<void(DeviceId)> const& f);
  /// Replaces the bytes of every process by the bitwise or of all of them. Throws: Mismatch if the
  /// processes do not meet for the same.
  void or_over_processes(std::span<std::byte> bytes, Place const& place, Meeting const& meeting);

  /// Runs `f`; what it throws is the end of this process's part, and the others are told.
  void guarded(std::function<void()> const& f);
  /// Access to arrays by one process alone.
  [[nodiscard]] OneSided& one_sided();

  /// From now on what each statement does is appended to `sink`; null for nowhere. Returns the one
  /// before.
  Explanations* explain_into(Explanations* sink);

  /// The CommunicationBudgets that live.
  [[nodiscard]] std::shared_ptr<detail::BudgetStack> const& budgets();

  /// Waits until every process has come to its end; writes what TESSERA_REPORT and TESSERA_TRACE
  /// ask for. Throws: PeerFailed.
  void finish();
  /// In place of `finish` where the program ends in an error: tells the others, writes the trace
  /// and the report of this process alone, and lets the others speak. Takes a few seconds at most.
  void end_in_error(std::exception_ptr const& error) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The engine of the Runtime that lives.
/// Throws: UsageError if there is none, on another thread, and inside a function that Tessera runs.
[[nodiscard]] Engine& engine();
/// What the job is made of: any thread may ask. Throws: UsageError without a Runtime.
[[nodiscard]] Job const& job();
/// What its devices are made of: any thread may ask. Throws: UsageError without a Runtime.
[[nodiscard]] DeviceKind device_kind();

namespace detail {
/// Makes an engine the one that `engine()` gives; null for none.
void set_engine(Engine* engine);
}  // namespace detail

}  // namespace tessera
