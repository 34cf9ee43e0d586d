#pragma once
/// @file
/// The heat equation in a plane, by hand: MPI with two buffers, columns packed, the inner cells
/// computed while the outermost ones travel.

#include <algorithm>
#include <array>
#include <utility>

#include <mpi.h>

#include "raw/aligned.hpp"
#include "raw/cut.hpp"
#include "raw/streaming.hpp"

namespace raw {

/// What a cell of a row becomes.
struct Heat2dCell {
  double stay, pass;
  double const* row;
  std::int64_t pitch;  ///< doubles from one row to the next

  template <class Load>
  auto operator()(Load load, std::int64_t j) const {
    auto const* const now = row + j;
    return stay * load(now) + pass * load(now - pitch) + pass * load(now + pitch) +
           pass * load(now - 1) + pass * load(now + 1);
  }
};

/// The cells of this process; the processes of MPI_COMM_WORLD form a grid, row-major.
class Heat2d {
 public:
  Heat2d(std::array<std::int64_t, 2> cells, std::array<int, 2> processes, bool periodic,
         double stay, double pass)
      : stay_(stay),
        pass_(pass),
        width_(cells[1]),
        rows_(cells[0], processes[0], rank() / processes[1], periodic),
        columns_(cells[1], processes[1], rank() % processes[1], periodic),
        pitch_(whole_lines(columns_.count) + 2 * line_doubles),
        is_large_(outgrows_caches(2 * count())) {
    if (count() > 0) find_neighbours(processes[1], periodic);
    for (auto* memory : {&memory_, &next_memory_})
      *memory = make_doubles((rows_.count + 2) * pitch_);
    now_ = memory_.get() + pitch_ + line_doubles;  // a row above and one below, a cell on each side
    next_ = next_memory_.get() + pitch_ + line_doubles;
    columns_out_ = make_doubles(2 * whole_lines(rows_.count));
    columns_in_ = make_doubles(2 * whole_lines(rows_.count));
  }

  template <class F>
  void fill(F const& f) {
    for (std::int64_t i = 0; i < rows_.count; ++i)
      for (std::int64_t j = 0; j < columns_.count; ++j)
        now_[i * pitch_ + j] = next_[i * pitch_ + j] = f(rows_.first + i, columns_.first + j);
  }

  void step() {
    if (count() == 0) return;
    std::array<MPI_Request, 8> requests;
    start_exchange(requests);
    update_inner();
    MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
    unpack_columns();
    update({rows_.lo, rows_.inner_lo()}, {columns_.lo, columns_.hi});
    update({rows_.inner_hi(), rows_.hi}, {columns_.lo, columns_.hi});
    update({rows_.inner_lo(), rows_.inner_hi()}, {columns_.lo, columns_.inner_lo()});
    update({rows_.inner_lo(), rows_.inner_hi()}, {columns_.inner_hi(), columns_.hi});
    std::swap(now_, next_);
  }

  [[nodiscard]] Cut const& rows() const { return rows_; }
  [[nodiscard]] Cut const& columns() const { return columns_; }
  [[nodiscard]] std::int64_t count() const { return rows_.count * columns_.count; }
  /// Of the whole plane, in cells.
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const {
    return now_[i * pitch_ + j];
  }

 private:
  enum Direction : int { up, down, left, right };

  static int rank() {
    int result = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &result);
    return result;
  }

  void find_neighbours(int width, bool periodic) {
    int const y = rank() / width, x = rank() % width;
    auto const number = [&](int ny, int nx) {
      return ny < 0 || nx < 0 ? MPI_PROC_NULL : ny * width + nx;
    };
    neighbours_ = {number(rows_.neighbour(y, -1, periodic), x),
                   number(rows_.neighbour(y, +1, periodic), x),
                   number(y, columns_.neighbour(x, -1, periodic)),
                   number(y, columns_.neighbour(x, +1, periodic))};
  }

  // A message's tag is the direction it travels.
  void start_exchange(std::array<MPI_Request, 8>& requests) {
    int const row = static_cast<int>(columns_.count), column = static_cast<int>(rows_.count);
    auto* const last_row = now_ + (rows_.count - 1) * pitch_;
    receive(now_ - pitch_, row, up, down, requests[0]);
    receive(last_row + pitch_, row, down, up, requests[1]);
    receive(columns_in_.get(), column, left, right, requests[2]);
    receive(columns_in_.get() + whole_lines(column), column, right, left, requests[3]);
    send(now_, row, up, requests[4]);
    send(last_row, row, down, requests[5]);
    pack_columns();
    send(columns_out_.get(), column, left, requests[6]);
    send(columns_out_.get() + whole_lines(column), column, right, requests[7]);
  }

  void receive(double* to, int n, Direction from, Direction tag, MPI_Request& request) const {
    MPI_Irecv(to, n, MPI_DOUBLE, neighbours_[from], tag, MPI_COMM_WORLD, &request);
  }
  void send(double const* from, int n, Direction to, MPI_Request& request) const {
    MPI_Isend(from, n, MPI_DOUBLE, neighbours_[to], to, MPI_COMM_WORLD, &request);
  }

  void pack_columns() {
    auto const second = whole_lines(rows_.count);
    if (neighbours_[left] != MPI_PROC_NULL)
      for (std::int64_t i = 0; i < rows_.count; ++i) columns_out_.get()[i] = now_[i * pitch_];
    if (neighbours_[right] != MPI_PROC_NULL)
      for (std::int64_t i = 0; i < rows_.count; ++i)
        columns_out_.get()[second + i] = now_[i * pitch_ + columns_.count - 1];
  }

  void unpack_columns() {
    auto const second = whole_lines(rows_.count);
    if (neighbours_[left] != MPI_PROC_NULL)
      for (std::int64_t i = 0; i < rows_.count; ++i) now_[i * pitch_ - 1] = columns_in_.get()[i];
    if (neighbours_[right] != MPI_PROC_NULL)
      for (std::int64_t i = 0; i < rows_.count; ++i)
        now_[i * pitch_ + columns_.count] = columns_in_.get()[second + i];
  }

  void update_inner() {
    Span const rows{rows_.inner_lo(), rows_.inner_hi()};
    Span const columns{columns_.inner_lo(), columns_.inner_hi()};
    if (!is_large_) return update(rows, columns);
    stream_rows(rows, {next_, pitch_, columns.lo, columns.hi},
                [this](std::int64_t row) { return cell_of(row); });
    end_streaming();
  }

  void update(Span rows, Span columns) {
    store_rows(rows, {next_, pitch_, columns.lo, columns.hi},
               [this](std::int64_t row) { return cell_of(row); });
  }

  [[nodiscard]] Heat2dCell cell_of(std::int64_t row) const {
    return {stay_, pass_, now_ + row * pitch_, pitch_};
  }

  double stay_, pass_;
  std::int64_t width_;
  Cut rows_, columns_;
  std::int64_t pitch_;  // doubles from one row to the next
  bool is_large_;
  std::array<int, 4> neighbours_{MPI_PROC_NULL, MPI_PROC_NULL, MPI_PROC_NULL, MPI_PROC_NULL};
  Doubles memory_, next_memory_;
  Doubles columns_out_, columns_in_;  // left, then right
  double* now_;
  double* next_;
};

}  // namespace raw
