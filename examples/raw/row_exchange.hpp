#pragma once
/// @file
/// Rows, or planes, that travel between processes which have some of them each.

#include <array>
#include <cstdint>

#include <mpi.h>

#include "raw/cut.hpp"

namespace raw {

/// This process's number and how many there are, in MPI_COMM_WORLD.
[[nodiscard]] inline int own_rank() {
  int result = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &result);
  return result;
}
[[nodiscard]] inline int process_count() {
  int result = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &result);
  return result;
}

/// Sends the outermost rows of a process to those above and below it, and receives theirs.
class RowExchange {
 public:
  RowExchange(Cut const& rows, bool periodic) : rows_(rows.count) {
    if (rows.count == 0) return;
    above_ = rank_of(rows.neighbour(own_rank(), -1, periodic));
    below_ = rank_of(rows.neighbour(own_rank(), +1, periodic));
  }

  /// `doubles` of each row, which lie `pitch` apart; there is room for a row before the first and
  /// one past the last.
  void start(double* first, std::int64_t pitch, std::int64_t doubles) {
    auto const n = static_cast<int>(doubles);
    auto* const past = first + rows_ * pitch;
    MPI_Irecv(first - pitch, n, MPI_DOUBLE, above_, down, MPI_COMM_WORLD, &requests_[0]);
    MPI_Irecv(past, n, MPI_DOUBLE, below_, up, MPI_COMM_WORLD, &requests_[1]);
    MPI_Isend(first, n, MPI_DOUBLE, above_, up, MPI_COMM_WORLD, &requests_[2]);
    MPI_Isend(past - pitch, n, MPI_DOUBLE, below_, down, MPI_COMM_WORLD, &requests_[3]);
  }

  void wait() { MPI_Waitall(4, requests_.data(), MPI_STATUSES_IGNORE); }

 private:
  // A message's tag is the direction it travels.
  static constexpr int up = 0;
  static constexpr int down = 1;

  static int rank_of(int position) { return position < 0 ? MPI_PROC_NULL : position; }

  std::int64_t rows_;
  int above_ = MPI_PROC_NULL, below_ = MPI_PROC_NULL;
  std::array<MPI_Request, 4> requests_{};
};

}  // namespace raw
