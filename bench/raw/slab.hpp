#pragma once
/// @file
/// Arrays that are cut along their first dimension, by hand: the rows, or planes, of a process, and
/// room for those of its neighbours.

#include <array>
#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include "raw/aligned.hpp"
#include "raw/row_exchange.hpp"

namespace raw {

/// So many rows of the neighbours: before the first row of a process, and behind its last one.
struct Reach {
  std::int64_t before, behind;
};

/// Sends rows to the processes before and behind this one, and receives theirs.
class Halo {
 public:
  Halo() {
    if (own_rank() > 0) before_ = own_rank() - 1;
    if (own_rank() + 1 < process_count()) behind_ = own_rank() + 1;
  }

  /// Fills the rows around `count` rows, which lie `pitch` doubles apart. Every process reaches as
  /// far, and has at least as many rows. Until `wait`, what is sent must not be written.
  void start(double* first, std::int64_t count, std::int64_t pitch, Reach reach) {
    auto* const past = first + count * pitch;
    auto const before = static_cast<int>(reach.before * pitch);
    auto const behind = static_cast<int>(reach.behind * pitch);
    if (before > 0) receive(first - before, before, before_, down);
    if (behind > 0) receive(past, behind, behind_, up);
    if (behind > 0) send(first, behind, before_, up);
    if (before > 0) send(past - before, before, behind_, down);
  }

  void wait() {
    MPI_Waitall(static_cast<int>(open_), requests_.data(), MPI_STATUSES_IGNORE);
    open_ = 0;
  }

 private:
  // A message's tag is the direction it travels.
  static constexpr int up = 0;
  static constexpr int down = 1;

  void receive(double* to, int doubles, int from, int tag) {
    MPI_Irecv(to, doubles, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &requests_[open_++]);
  }
  void send(double const* from, int doubles, int to, int tag) {
    MPI_Isend(from, doubles, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &requests_[open_++]);
  }

  int before_ = MPI_PROC_NULL, behind_ = MPI_PROC_NULL;
  std::array<MPI_Request, 4> requests_{};
  std::size_t open_ = 0;
};

/// Rows [first, past) of an array, all 0, and room for others around them. A row may be a plane.
class Slab {
 public:
  Slab(std::int64_t first, std::int64_t past, std::int64_t pitch, Reach room)
      : first_(first),
        past_(past),
        pitch_(pitch),
        memory_(make_doubles((past - first + room.before + room.behind) * pitch)),
        first_row_(memory_.get() + room.before * pitch) {}

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t past() const { return past_; }
  /// Row i of the whole array, which this process has or has room for.
  [[nodiscard]] double* row(std::int64_t i) const { return first_row_ + (i - first_) * pitch_; }

  void start(Reach reach) { halo_.start(first_row_, past_ - first_, pitch_, reach); }
  void wait() { halo_.wait(); }

 private:
  std::int64_t first_, past_;
  std::int64_t pitch_;  // doubles from one row to the next
  Doubles memory_;
  double* first_row_;
  Halo halo_;
};

/// Calls f(j) for the cells [lo, hi) of a row, several at once: f writes no cell that it reads for
/// another one.
template <class F>
void for_cells(std::int64_t lo, std::int64_t hi, F f) {
#pragma GCC ivdep
  for (auto j = lo; j < hi; ++j) f(j);
}

/// Calls f(cell, value) for rows [first, past) of so many cells; `cell` counts those of the array.
template <class F>
void for_values(Slab const& slab, std::int64_t past, std::int64_t width, F const& f) {
  for (auto i = slab.first(); i < past; ++i)
    for (std::int64_t j = 0; j < width; ++j) f(i * width + j, slab.row(i)[j]);
}

}  // namespace raw
