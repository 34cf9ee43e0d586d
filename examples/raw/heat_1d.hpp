#pragma once
/// @file
/// The heat equation on a line, by hand: MPI with two buffers, the inner cells computed while the
/// outermost ones travel.

#include <algorithm>
#include <array>
#include <utility>

#include <mpi.h>

#include "raw/aligned.hpp"
#include "raw/streaming.hpp"

namespace raw {

/// What a cell becomes.
struct Heat1dCell {
  double stay, pass;
  double const* now;

  template <class Load>
  auto operator()(Load load, std::int64_t i) const {
    return stay * load(now + i) + pass * load(now + i - 1) + pass * load(now + i + 1);
  }
};

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
    is_large_ = outgrows_caches(2 * count_);
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
    update_inner(inner_lo, inner_hi);
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
    update(lo_, inner_lo);
    update(inner_hi, hi_);
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

  void update_inner(std::int64_t lo, std::int64_t hi) {
    if (!is_large_) return update(lo, hi);
    stream({next_, 0, lo, hi}, Together{cell()});
    end_streaming();
  }

  void update(std::int64_t lo, std::int64_t hi) { store({next_, 0, lo, hi}, Together{cell()}); }

  [[nodiscard]] Heat1dCell cell() const { return {stay_, pass_, now_}; }

  double stay_, pass_;
  std::int64_t first_, count_;
  std::int64_t lo_, hi_;  // the cells that change
  bool is_large_;
  int left_ = MPI_PROC_NULL, right_ = MPI_PROC_NULL;
  Doubles memory_, next_memory_;
  double* now_;
  double* next_;
};

}  // namespace raw
