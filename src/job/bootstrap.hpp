#pragma once
/// @file
/// The knowledge of a process before any transport exists: its rank, the number of processes, the
/// processes of its host, and a way to send a few bytes to another process.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "tessera/base/ids.hpp"

namespace tessera {

class MpiCommunicator;  // tessera/job/mpi_communicator.hpp

/// The job as the launcher created it.
///
/// Threads: the caller's thread only (MPI is asked for no more than FUNNELED).
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  [[nodiscard]] virtual ProcessId self() const = 0;
  [[nodiscard]] virtual std::int64_t process_count() const = 0;

  /// The processes of this host by rank, including this one. The table grows with the host, not
  /// with the job, and exists once per host if its processes can share memory.
  [[nodiscard]] virtual std::span<ProcessId const> host_processes() const = 0;
  /// A number that is equal on all processes of a host: the lowest of their ranks.
  [[nodiscard]] std::int64_t host() const { return host_processes().front().value(); }
  [[nodiscard]] virtual std::string host_name() const = 0;
  /// False if MPI was initialised for a single thread: then this process starts none of its own.
  [[nodiscard]] virtual bool allows_threads() const = 0;

  /// Replaces each number by its maximum over all processes; one collective over the job, for
  /// bring-up only.
  virtual void max_of_each(std::span<std::int64_t> values) = 0;
  /// The same of a single number.
  [[nodiscard]] std::int64_t max_of(std::int64_t value) {
    max_of_each({&value, 1});
    return value;
  }
  /// True if all processes pass the same number; one collective over the job, for bring-up only.
  [[nodiscard]] bool is_equal_on_all(std::int64_t value) {
    std::array<std::int64_t, 2> ends{value, -value};
    max_of_each(ends);
    return ends[0] == -ends[1];
  }
  /// The sum of the numbers that the processes before this one pass (0 on the first).
  [[nodiscard]] virtual std::int64_t sum_before(std::int64_t value) = 0;
  /// The numbers of all processes by rank. The first process of each host writes them into memory
  /// that the other processes of the host map read-only: 8 bytes per process on each host. Use it
  /// only for data that no formula gives.
  [[nodiscard]] virtual std::span<std::int64_t const> table_of(std::int64_t value) = 0;
  /// The numbers of all processes of this host, the same count from each, in the order of
  /// `host_processes()`. The memory exists once per host if its processes can share it. A
  /// collective over the host, for bring-up only.
  [[nodiscard]] virtual std::span<std::int64_t const> host_table(
      std::span<std::int64_t const> values) = 0;
  /// Replaces each number by its sum over the processes of this host; one collective over the host,
  /// for bring-up only.
  virtual void sum_over_host(std::span<std::int64_t> values) = 0;
  /// The same with their bitwise or.
  virtual void or_over_host(std::span<std::int64_t> values) = 0;
  /// A collective over the job, for bring-up only.
  virtual void barrier() = 0;

  /// Announces that this process has reached the end; every process calls it once. Returns at once.
  virtual void begin_barrier() = 0;
  /// True once all processes have arrived. Never blocks.
  [[nodiscard]] virtual bool barrier_done() = 0;

  static constexpr std::int64_t max_control_bytes = 1024;

  /// Queues a control message of at most `max_control_bytes`; returns at once. Messages between two
  /// processes keep their order.
  virtual void send_control(ProcessId to, std::span<std::byte const> bytes) = 0;
  /// Passes every control message that has arrived to `handler`, and completes queued sends.
  virtual void poll_control(
      std::function<void(ProcessId from, std::span<std::byte const> bytes)> const& handler) = 0;

  /// Ends the whole job at once with a non-zero code.
  [[noreturn]] virtual void abort_job() = 0;
  /// Ends this process's part normally; a collective over the job.
  virtual void finalize() = 0;
};

/// A job of one process, without a launcher.
[[nodiscard]] std::unique_ptr<Bootstrap> make_single_bootstrap();

/// The job that `mpirun` or another launcher of MPI started. Initialises MPI with FUNNELED unless
/// the program has done so, and then finalises it at the end.
///
/// Throws: BackendNotBuilt where TESSERA_WITH_MPI is off.
/// Source: MPI 3.1; nothing newer is used.
[[nodiscard]] std::unique_ptr<Bootstrap> make_mpi_bootstrap(int& argc, char**& argv);

/// The job of the processes of a communicator, which may be a part of those that were started; a
/// process's number is its rank there. The caller still owns MPI: Tessera does not finalise it, and
/// sends no message on the communicator itself.
///
/// Ranks:  collective over the communicator.
/// Throws: BackendNotBuilt where TESSERA_WITH_MPI is off; UsageError if MPI is not initialised, is
///         already finalised, or was initialised for another thread than this one; UsageError for
///         an inter-communicator.
[[nodiscard]] std::unique_ptr<Bootstrap> make_mpi_bootstrap(MpiCommunicator const& communicator);

/// True if this process was started so that MPI can start: by Open MPI, PMIx or PMI. False under
/// srun without them.
[[nodiscard]] bool launched_by_mpi();

}  // namespace tessera
