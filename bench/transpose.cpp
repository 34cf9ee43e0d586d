// The transpose of a square of doubles: both are cut by rows, so that each pair of devices
// exchanges a block. Beside the same written by hand with MPI.
//
//   bench_transpose LABEL 2 CELLS STEPS PAIRS     prints a line of JSON; see bench/run
//
// CELLS is the length of a side. The only form is `plain`, the statement b = transpose(a). The raw
// version packs the transposed block for each process, calls MPI_Alltoallv, and puts the rows that
// arrive into their places; its own block goes from a to b at once, past the caches where these are
// smaller. Tiles are as wide and as high as a cache line. Both have to end with the same bits.
#include <cstdint>
#include <cstring>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "forms.hpp"
#include "raw/aligned.hpp"
#include "raw/row_exchange.hpp"
#include "raw/streaming.hpp"

namespace ts = tessera;

using bench::Case;
using bench::start_at;

namespace {

/// Rows in memory.
template <class T>
struct Block {
  T* cells;
  std::int64_t pitch;
};

/// Eight doubles from the start of a cache line on, through the caches or past them.
struct StoreLine {
  void operator()(double* to, double const* line) const {
    std::memcpy(to, line, raw::line_doubles * sizeof(double));
  }
};
struct StreamLine {
  void operator()(double* to, double const* line) const {
    for (std::int64_t i = 0; i < raw::line_doubles; i += raw::pack_doubles)
      raw::stream_pack(to + i, raw::LoadPack{}(line + i));
  }
};

/// A tile as wide and as high as a cache line, through a buffer.
template <class Write>
inline void transpose_tile(Block<double const> from, Block<double> to, Write const& write) {
  constexpr auto side = raw::line_doubles;
  alignas(side * sizeof(double)) double lines[side * side];
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j) lines[j * side + i] = from.cells[i * from.pitch + j];
  for (std::int64_t j = 0; j < side; ++j) write(to.cells + j * to.pitch, lines + j * side);
}

/// `to` becomes the transpose of rows x columns cells.
template <class Write>
void transpose_block(Block<double const> from, Block<double> to, std::int64_t rows,
                     std::int64_t columns, Write const& write) {
  constexpr auto side = raw::line_doubles;
  auto const whole_rows = rows / side * side, whole_columns = columns / side * side;
  for (std::int64_t i = 0; i < whole_rows; i += side)
    for (std::int64_t j = 0; j < whole_columns; j += side)
      transpose_tile({from.cells + i * from.pitch + j, from.pitch},
                     {to.cells + j * to.pitch + i, to.pitch}, write);
  for (std::int64_t i = 0; i < rows; ++i)
    for (auto j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      to.cells[j * to.pitch + i] = from.cells[i * from.pitch + j];
}

/// By hand, the rows of this process.
class RawTranspose {
 public:
  explicit RawTranspose(std::int64_t n)
      : n_(n),
        rank_(raw::own_rank()),
        size_(raw::process_count()),
        pitch_(raw::whole_lines(n) + raw::line_doubles),
        a_(raw::make_doubles(own() * pitch_)),
        b_(raw::make_doubles(own() * pitch_)),
        packed_(raw::make_doubles(own() * (n - own()))),
        received_(raw::make_doubles(own() * (n - own()))) {
    for (std::int64_t i = 0; i < own(); ++i)
      for (std::int64_t j = 0; j < n; ++j)
        a_.get()[i * pitch_ + j] = start_at((first(rank_) + i) * n + j);
    for (int peer = 0, cells = 0; peer < size_; ++peer) {
      firsts_.push_back(cells);
      counts_.push_back(peer == rank_ ? 0 : static_cast<int>(own() * count(peer)));
      cells += counts_.back();
    }
  }

  void step() {
    for (int peer = 0; peer < size_; ++peer) {
      Block<double const> const from{a_.get() + first(peer), pitch_};
      if (peer != rank_)
        transpose_block(from, {packed_.get() + at(peer), own()}, own(), count(peer), StoreLine{});
      else if (streams())
        transpose_block(from, {b_.get() + first(peer), pitch_}, own(), own(), StreamLine{});
      else
        transpose_block(from, {b_.get() + first(peer), pitch_}, own(), own(), StoreLine{});
    }
    raw::end_streaming();
    // A block and its transpose have as many cells.
    MPI_Alltoallv(packed_.get(), counts_.data(), firsts_.data(), MPI_DOUBLE, received_.get(),
                  counts_.data(), firsts_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) unpack(peer);
  }

  template <class Visit>
  void visit(Visit const& f) const {
    for (std::int64_t i = 0; i < own(); ++i)
      for (std::int64_t j = 0; j < n_; ++j)
        f(0, (first(rank_) + i) * n_ + j, b_.get()[i * pitch_ + j]);
  }

 private:
  [[nodiscard]] std::int64_t first(int process) const { return raw::begin_of(n_, size_, process); }
  [[nodiscard]] std::int64_t count(int process) const {
    return first(process + 1) - first(process);
  }
  [[nodiscard]] std::int64_t own() const { return count(rank_); }
  [[nodiscard]] std::int64_t at(int process) const {
    return firsts_[static_cast<std::size_t>(process)];
  }

  /// Past the caches where the array is larger than these, and the own block begins with a line.
  [[nodiscard]] bool streams() const {
    return raw::outgrows_caches(own() * pitch_) && first(rank_) % raw::line_doubles == 0;
  }

  void unpack(int peer) {
    auto const run = count(peer);
    for (std::int64_t i = 0; i < own(); ++i)
      std::memcpy(b_.get() + i * pitch_ + first(peer), received_.get() + at(peer) + i * run,
                  static_cast<std::size_t>(run) * sizeof(double));
  }

  std::int64_t n_;
  int rank_, size_;
  std::int64_t pitch_;  // doubles from one row to the next
  raw::Doubles a_, b_, packed_, received_;
  std::vector<int> firsts_, counts_;  // of each process's block, in doubles
};

int bench_transpose(Case const& what) {
  auto const n = what.cells;
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x", ts::none));
  auto const a =
      ts::from_index<double>({n, n}, rows, [=](auto i) { return start_at(i[0] * n + i[1]); });
  auto b = ts::zeros<double>({n, n}, rows);
  RawTranspose raw(n);
  auto const pairs = bench::time_pairs(
      what, [&] { b = ts::transpose(a); }, [&] { raw.step(); });
  auto const wanted = bench::raw_hashes(1, [&](auto const& visit) { raw.visit(visit); });
  return bench::print(what, pairs, ts::hash(b) == wanted[0], "plain");
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  return what ? bench_transpose(*what) : 2;
}
