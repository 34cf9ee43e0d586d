#pragma once
/// @file
/// The heat equation on a line, by hand: MPI with two buffers, the inner cells computed while the
/// outermost ones travel.

#include <algorithm>
#include <array>
#include <utility>

#include <mpi.h>

#include "raw/aligned.hpp"

namespace raw {

/// The cells of this process. Every process of MPI_COMM_WORLD makes one; the first n mod p have one
/// cell more, and those that have none do nothing.
class Heat1d {
 public:
  /// Cells without neighbours on both sides stay what they are: the two ends, unless periodic.
  Heat1d(std::int64_t cells, bool periodic, double stay, double pass) : stay_(stay), pass_(pass) {
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    first_ = begin_of(cells, size, rank);
    count_ = begin_of(cells, size, rank + 1) - first_;
    find_neighbours(rank, static_cast<int>(std::min<std::int64_t>(size, cells)), periodic);
    lo_ = !periodic && first_ == 0 ? 1 : 0;
    hi_ = !periodic && first_ + count_ == cells ? count_ - 1 : count_;
    hi_ = std::max(hi_, lo_);
    for (auto* memory : {&memory_, &next_memory_})
      *memory = make_doubles(count_ + 2 * line_doubles);
    now_ = memory_.get() + line_doubles;  // room for a neighbour's cell on each side
    next_ = next_memory_.get() + line_doubles;
  }

  template <class F>
  void fill(F const& f) {
    for (std::int64_t i = 0; i < count_; ++i) now_[i] = next_[i] = f(first_ + i);
  }

  void step() {
    if (count_ == 0) return;
    std::array<MPI_Request, 4> requests;
    MPI_Irecv(now_ - 1, 1, MPI_DOUBLE, left_, to_right, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(now_ + count_, 1, MPI_DOUBLE, right_, to_left, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(now_, 1, MPI_DOUBLE, left_, to_left, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(now_ + count_ - 1, 1, MPI_DOUBLE, right_, to_right, MPI_COMM_WORLD, &requests[3]);

    auto const inner_lo = std::min(std::max<std::int64_t>(lo_, 1), hi_);
    auto const inner_hi = std::max(std::min(hi_, count_ - 1), inner_lo);
    update(now_, next_, inner_lo, inner_hi);
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    update(now_, next_, lo_, inner_lo);
    update(now_, next_, inner_hi, hi_);
    std::swap(now_, next_);
  }

  /// The global index of the first cell, and how many there are.
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double operator[](std::int64_t i) const { return now_[i]; }

 private:
  static constexpr int to_right = 0;
  static constexpr int to_left = 1;

  void find_neighbours(int rank, int with_cells, bool periodic) {
    if (rank >= with_cells) return;
    left_ = rank > 0 ? rank - 1 : periodic ? with_cells - 1 : MPI_PROC_NULL;
    right_ = rank + 1 < with_cells ? rank + 1 : periodic ? 0 : MPI_PROC_NULL;
  }

  void update(double const* __restrict now, double* __restrict next, std::int64_t lo,
              std::int64_t hi) const {
    auto const stay = stay_, pass = pass_;
    for (std::int64_t i = lo; i < hi; ++i)
      next[i] = stay * now[i] + pass * now[i - 1] + pass * now[i + 1];
  }

  double stay_, pass_;
  std::int64_t first_, count_;
  std::int64_t lo_, hi_;  // the cells that change
  int left_ = MPI_PROC_NULL, right_ = MPI_PROC_NULL;
  Doubles memory_, next_memory_;
  double* now_;
  double* next_;
};

}  // namespace raw
