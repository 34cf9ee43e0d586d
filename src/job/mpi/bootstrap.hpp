#pragma once
/// @file
/// The job as MPI describes it.

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/job/bootstrap.hpp"
#include "src/job/ipc/shared_segment.hpp"
#include "src/job/mpi/mpi.hpp"
#include "src/job/start_watch.hpp"

namespace tessera::mpi {

/// Every communicator is a duplicate: messages here cannot match those of the user.
class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(int& argc, char**& argv);
  /// Of a communicator of the program's, which has initialised MPI.
  explicit MpiBootstrap(MPI_Comm communicator);

  [[nodiscard]] ProcessId self() const override { return ProcessId(rank_); }
  [[nodiscard]] std::int64_t process_count() const override { return size_; }
  [[nodiscard]] std::span<ProcessId const> host_processes() const override { return on_host_; }
  [[nodiscard]] std::string host_name() const override;
  [[nodiscard]] bool allows_threads() const override { return allows_threads_; }

  void max_of_each(std::span<std::int64_t> values) override;
  [[nodiscard]] std::int64_t sum_before(std::int64_t value) override;
  [[nodiscard]] std::span<std::int64_t const> table_of(std::int64_t value) override;
  [[nodiscard]] std::span<std::int64_t const> host_table(
      std::span<std::int64_t const> values) override;
  void sum_over_host(std::span<std::int64_t> values) override;
  void or_over_host(std::span<std::int64_t> values) override;
  void barrier() override;
  void begin_barrier() override;
  [[nodiscard]] bool barrier_done() override;

  void send_control(ProcessId to, std::span<std::byte const> bytes) override;
  void poll_control(
      std::function<void(ProcessId, std::span<std::byte const>)> const& handler) override;

  [[noreturn]] void abort_job() override;
  void finalize() override;

  /// For collectives, and for messages with tags from `first_channel_tag` on: making another
  /// communicator would be the slowest part of the start.
  [[nodiscard]] MPI_Comm world() const { return world_; }
  static constexpr int control_tag = 0;
  static constexpr int first_channel_tag = 1;

 private:
  struct Outgoing {
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<std::byte, max_control_bytes> bytes;
  };
  using Table = std::vector<std::int64_t>;

  void start_on(MPI_Comm communicator);
  /// Waits until all processes of the program's communicator have come to make their Runtime.
  void meet(MPI_Comm communicator);
  /// Runs a collective that blocks, while a thread looks for the others.
  void watched(std::function<void()> const& call);
  /// Runs a collective that does not block, polling, and looks for the others meanwhile, whose
  /// ranks are those of `communicator`. Throws: PeerFailed.
  void complete(MPI_Comm communicator, char const* name,
                std::function<int(MPI_Request*)> const& begin);
  void look_for_others(MPI_Comm communicator);
  /// All processes begin the next collective in which all take part.
  void next_step();
  void reduce(std::span<std::int64_t> values, MPI_Op operation, MPI_Comm communicator);
  /// The same count from each process of the host, to the table of its first.
  void gather(std::span<std::int64_t const> values, std::int64_t* table);
  /// From the first process of the host.
  void broadcast(std::span<std::byte> bytes);
  void split_by_host();
  void join_leaders();
  /// The numbers of all processes by rank; on the first process of each host only.
  [[nodiscard]] Table gather_on_leaders(std::int64_t value);
  /// Shares a table of `count` numbers, which the first process of the host has filled in, with the
  /// whole host: in shared memory, or as copies if any process cannot map it.
  [[nodiscard]] std::span<std::int64_t const> share_on_host(Table table, std::size_t count);
  /// Maps the memory of the first process in the others; empty if any of them cannot.
  [[nodiscard]] std::span<std::int64_t const> map_on_host(Table const& table, std::size_t count);
  [[nodiscard]] bool leads_host() const { return host_rank_ == 0; }
  void complete_sent();

  int rank_ = 0;
  int size_ = 1;
  int host_rank_ = 0;
  int host_size_ = 1;
  bool initialised_here_ = false;
  bool allows_threads_ = true;
  bool open_ = true;
  bool has_leaders_ = false;
  MPI_Comm world_ = MPI_COMM_NULL;    ///< all of the job
  MPI_Comm host_ = MPI_COMM_NULL;     ///< the processes of this host
  MPI_Comm leaders_ = MPI_COMM_NULL;  ///< the first process of each host, once it is needed
  MPI_Request arrival_ = MPI_REQUEST_NULL;
  std::optional<StartWatch> start_watch_;  ///< none in a job of one process
  std::span<ProcessId const> on_host_;
  std::vector<Segment> shared_tables_;
  std::deque<Table> private_tables_;
  std::vector<std::unique_ptr<Outgoing>> sent_;
};

}  // namespace tessera::mpi
