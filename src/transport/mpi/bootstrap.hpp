#pragma once
/// @file
/// The job as MPI knows it.

#include <array>
#include <memory>
#include <vector>

#include "tessera/transport/bootstrap.hpp"

#include "../segment.hpp"
#include "mpi.hpp"

namespace tessera::mpi {

/// Every communicator is a duplicate of its own: nothing here can meet the user's messages.
class MpiBootstrap final : public Bootstrap {
 public:
  MpiBootstrap(int& argc, char**& argv);

  [[nodiscard]] ProcessId self() const override { return ProcessId(rank_); }
  [[nodiscard]] std::int64_t process_count() const override { return size_; }
  [[nodiscard]] std::vector<ProcessId> const& host_processes() const override { return on_host_; }
  [[nodiscard]] std::string host_name() const override;
  [[nodiscard]] bool allows_threads() const override { return allows_threads_; }

  [[nodiscard]] std::int64_t max_of(std::int64_t value) override;
  [[nodiscard]] std::int64_t sum_before(std::int64_t value) override;
  [[nodiscard]] std::span<std::int64_t const> table_of(std::int64_t value) override;
  [[nodiscard]] std::vector<std::int64_t> host_values(std::int64_t value) override;
  void barrier() override;
  void begin_barrier() override;
  [[nodiscard]] bool barrier_done() override;

  void send_control(ProcessId to, std::span<std::byte const> bytes) override;
  void poll_control(
      std::function<void(ProcessId, std::span<std::byte const>)> const& handler) override;

  [[noreturn]] void abort_job() override;
  void finalize() override;

  /// The communicator that others duplicate.
  [[nodiscard]] MPI_Comm world() const { return world_; }

 private:
  struct Outgoing {
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<std::byte, max_control_bytes> bytes;
  };
  using Table = std::vector<std::int64_t>;

  void split_by_host();
  /// Everybody's numbers by rank; on the first process of each host only.
  [[nodiscard]] Table gather_on_leaders(std::int64_t value) const;
  /// The host's other processes map what its first one has made; empty if any of them may not.
  [[nodiscard]] std::span<std::int64_t const> share_on_host(Table const& table);
  void complete_sent();

  int rank_ = 0;
  int size_ = 1;
  bool initialised_here_ = false;
  bool allows_threads_ = true;
  bool open_ = true;
  MPI_Comm world_ = MPI_COMM_NULL;    ///< collectives
  MPI_Comm control_ = MPI_COMM_NULL;  ///< control messages
  MPI_Comm host_ = MPI_COMM_NULL;     ///< the processes of this host
  MPI_Comm leaders_ = MPI_COMM_NULL;  ///< the first process of each host
  MPI_Request arrival_ = MPI_REQUEST_NULL;
  std::vector<ProcessId> on_host_;
  std::vector<Segment> shared_tables_;
  std::vector<Table> private_tables_;
  std::vector<std::unique_ptr<Outgoing>> sent_;
};

}  // namespace tessera::mpi
