#pragma once
/// @file
/// Executes statements on this process's devices. There is one engine, owned by the Runtime.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "tessera/device/device_kind.hpp"

#include "src/execution/loop.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/job/bootstrap.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

class ArrayAllocator;
class OneSided;
class Profiler;
class TreeCollectives;
struct LocalDevices;
struct Machine;
struct Operation;

namespace detail {
class BudgetStack;
}  // namespace detail

/// Orders the steps of a statement: plan it, check it against the budgets, post it, and wait where
/// that is needed.
///
/// Ranks:   statements, loops and the end are collective over the job, in the same order on every
///          process; synchronize and on_local_devices are local.
/// Threads: the caller's thread only.
class Engine {
 public:
  Engine(Bootstrap& bootstrap, LocalDevices const& devices, NetworkOptions const& options);
  ~Engine();
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  /// Returns the number of this engine among those of the process, counted from 1.
  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] Job const& job() const;
  /// Returns what plans know of the machine.
  [[nodiscard]] Machine const& machine() const;
  [[nodiscard]] DeviceKind device_kind() const;
  /// Returns the traits of the devices' queues.
  [[nodiscard]] QueueTraits const& device_traits() const;
  [[nodiscard]] Network& network();

  /// Plans the statement if it is new, then runs it: before this returns with one local device,
  /// later on the workers with several. A statement that involves MPI returns when this process's
  /// sends and receives for it are complete.
  /// Throws: PeerFailed, Mismatch, and any earlier failure of this process; BudgetExceeded, alike
  ///         on every process and before anything is sent.
  void run(Statement const& statement);
  /// The same of an operation, as a unit. Throws: as of a statement.
  void run(Operation const& operation);
  /// Runs what a recorded loop has run before, with arrays in other roles. May write frozen arrays:
  /// the comparison of the recorded steps has shown that later steps give them new cells.
  /// Throws: as `run`.
  void replay(Statement const& statement);
  void replay(Operation const& operation);

  /// Compares numbers that every process passes alike to a new array. `kind`: of static storage.
  /// For a job that compares numbers. Throws: Mismatch, perhaps later; PeerFailed.
  using PassNumbers = std::function<void(NumberVisitor&)>;
  void compare_numbers(char const* kind, ArrayModel const& array, PassNumbers const& pass);

  /// Where numbers are compared, waits until those of all statements so far have been: what this
  /// process alone would notice next is told to all of them.
  /// Ranks: collective. Throws: Mismatch, PeerFailed.
  void catch_up_on_numbers();

  /// The layout of one cell of which every device of the job has a copy.
  [[nodiscard]] std::shared_ptr<Layout const> const& layout_on_all() const;
  /// A scalar for the result of a reduction.
  [[nodiscard]] std::shared_ptr<ScalarState> make_scalar();

  /// Opens the channels of a loop. Throws: PeerFailed, Mismatch.
  void open_channels(Loop& loop);
  /// Runs blocks of a loop's steps, and waits for their end. Nothing else may use its arrays
  /// meanwhile. Throws: PeerFailed, Mismatch, and any earlier failure of this process.
  void run(LoopRun const& run);

  /// Waits until this process's devices have executed all statements so far.
  void synchronize();
  /// Calls `f` for each local device, on its worker, and returns when all are done. The first
  /// exception of `f` is thrown here; other devices finish first.
  void on_local_devices(std::function<void(DeviceId)> const& f);

  // Other services of the engine. Lifetime: the engine's.
  [[nodiscard]] ArrayAllocator& arrays();
  [[nodiscard]] TreeCollectives& collectives();
  [[nodiscard]] Profiler& profiler();
  /// The CommunicationBudgets that currently exist.
  [[nodiscard]] std::shared_ptr<detail::BudgetStack> const& budgets();
  /// One-sided access to arrays.
  [[nodiscard]] OneSided& one_sided();
  /// True if any process has TESSERA_CHECK=recording.
  [[nodiscard]] bool checks_recordings() const;
  /// True if any process has TESSERA_CHECK=communication or numbers.
  [[nodiscard]] bool checks_communication() const;

  /// Waits until every process has reached its end; writes the report and the trace if
  /// TESSERA_REPORT and TESSERA_TRACE request them. Throws: PeerFailed.
  void finish();
  /// The first failure of this process, which every statement throws again; null if there is none.
  [[nodiscard]] std::exception_ptr failure() const;
  /// Informs the other processes that this one gives up, and why. Takes a moment.
  void announce(std::exception_ptr const& error) noexcept;
  /// Replaces `finish` if the program ends in an error: informs the other processes, writes the
  /// trace and the report of this process alone, and serves the others so that they can report.
  /// Takes a few seconds at most.
  void end_in_error(std::exception_ptr const& error) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
