// A square of doubles from row blocks to column blocks, or to copies of all, beside the same
// written by hand with MPI. All run in turn in the same processes and have to end with the same
// bits.
//
//   bench_reshard LABEL DIMENSIONS CELLS STEPS PAIRS     prints a line of JSON for each form
//
// CELLS is the length of a side; DIMENSIONS is 2, whatever is asked. The forms:
//
//   assign     v = u into an array that is there      MPI_Alltoallv, packed by hand
//   assign-w   the same                               MPI_Alltoallw with derived types
//   reshard    into a new array at each step          MPI_Alltoallv, packed by hand
//
// and where LABEL begins with "copies":
//
//   copies     v = u, of which each process has all   MPI_Allgatherv
//
// The hand-written versions have all their memory before they start. The last member of each line,
// extra_bytes, is by how much memory grew at most in the first step, beyond the result.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "src/base/detail.hpp"

#include "pairs.hpp"
#include "raw/aligned.hpp"

namespace ts = tessera;

using bench::Case;
using bench::Pair;
using bench::start_at;
using bench::time;

namespace {

/// Row blocks to column blocks by hand.
class RawBlocks {
 public:
  explicit RawBlocks(std::int64_t side) : side_(side) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    rows_ = raw::make_doubles(own() * side);
    columns_ = raw::make_doubles(side * own());
    for (std::int64_t i = 0; i < own(); ++i)
      for (std::int64_t j = 0; j < side; ++j)
        rows_[static_cast<std::size_t>(i * side + j)] = start_at((first(rank_) + i) * side + j);
    packed_ = raw::make_doubles(own() * (side - own()));
    count_messages();
    make_types();
  }
  ~RawBlocks() {
    for (auto* types : {&row_types_, &column_types_})
      for (auto& type : *types) MPI_Type_free(&type);
  }
  RawBlocks(RawBlocks const&) = delete;
  RawBlocks& operator=(RawBlocks const&) = delete;

  /// Packs runs of a row; what arrives is whole rows of a column block and lies where it belongs.
  void by_alltoallv() {
    for (int peer = 0; peer < size_; ++peer) {
      auto* to = peer == rank_ ? columns_.get() + first(rank_) * own()
                               : packed_.get() + send_first_[static_cast<std::size_t>(peer)];
      auto const run = count(peer);
      for (std::int64_t i = 0; i < own(); ++i, to += run)
        std::memcpy(to, rows_.get() + i * side_ + first(peer),
                    static_cast<std::size_t>(run) * sizeof(double));
    }
    MPI_Alltoallv(packed_.get(), send_count_.data(), send_first_.data(), MPI_DOUBLE, columns_.get(),
                  receive_count_.data(), receive_first_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  }

  void by_alltoallw() {
    MPI_Alltoallw(rows_.get(), ones_.data(), zeros_.data(), row_types_.data(), columns_.get(),
                  ones_.data(), zeros_.data(), column_types_.data(), MPI_COMM_WORLD);
  }

  void clear() { std::fill_n(columns_.get(), side_ * own(), -1.0); }

  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t hash = 0;
    for (std::int64_t i = 0; i < side_; ++i)
      for (std::int64_t j = 0; j < own(); ++j)
        hash += ts::mix(static_cast<std::uint64_t>(i * side_ + first(rank_) + j),
                        ts::bits_of(columns_[static_cast<std::size_t>(i * own() + j)]));
    MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return hash;
  }

 private:
  [[nodiscard]] std::int64_t first(int process) const {
    return raw::begin_of(side_, size_, process);
  }
  [[nodiscard]] std::int64_t count(int process) const {
    return first(process + 1) - first(process);
  }
  [[nodiscard]] std::int64_t own() const { return count(rank_); }

  void count_messages() {
    int sent = 0;
    for (int peer = 0; peer < size_; ++peer) {
      auto const is_self = peer == rank_;
      send_first_.push_back(sent);
      send_count_.push_back(is_self ? 0 : static_cast<int>(own() * count(peer)));
      sent += send_count_.back();
      receive_first_.push_back(static_cast<int>(first(peer) * own()));
      receive_count_.push_back(is_self ? 0 : static_cast<int>(count(peer) * own()));
    }
  }

  void make_types() {
    ones_.assign(static_cast<std::size_t>(size_), 1);
    zeros_.assign(static_cast<std::size_t>(size_), 0);
    for (int peer = 0; peer < size_; ++peer) {
      row_types_.push_back(type({own(), side_}, {own(), count(peer)}, {0, first(peer)}));
      column_types_.push_back(type({side_, own()}, {count(peer), own()}, {first(peer), 0}));
    }
  }

  using Two = std::array<std::int64_t, 2>;
  static MPI_Datatype type(Two const& whole, Two const& part, Two const& start) {
    std::array<int, 2> const sizes{static_cast<int>(whole[0]), static_cast<int>(whole[1])};
    std::array<int, 2> const parts{static_cast<int>(part[0]), static_cast<int>(part[1])};
    std::array<int, 2> const starts{static_cast<int>(start[0]), static_cast<int>(start[1])};
    MPI_Datatype result = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(2, sizes.data(), parts.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE,
                             &result);
    MPI_Type_commit(&result);
    return result;
  }

  std::int64_t side_;
  int rank_ = 0, size_ = 0;
  raw::Doubles rows_, columns_, packed_;
  std::vector<int> send_count_, send_first_, receive_count_, receive_first_, ones_, zeros_;
  std::vector<MPI_Datatype> row_types_, column_types_;
};

/// A line of /proc/self/status, in bytes.
std::int64_t status_bytes(std::string const& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(name + ":", 0) == 0) return std::stoll(line.substr(name.size() + 1)) * 1024;
  return 0;
}

/// By how much the memory of the process that needs most grows while `f` runs, at most.
template <class F>
std::int64_t peak_growth(F const& f) {
  ts::synchronize();
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts anew
  auto const before = status_bytes("VmRSS");
  f();
  ts::synchronize();
  auto growth = status_bytes("VmHWM") - before;
  MPI_Allreduce(MPI_IN_PLACE, &growth, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return growth;
}

/// Row blocks to copies of all rows by hand.
class RawCopies {
 public:
  explicit RawCopies(std::int64_t side)
      : all_(raw::make_doubles(side * side)), cells_(side * side) {
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int process = 0; process < size; ++process) {
      first_.push_back(static_cast<int>(raw::begin_of(side, size, process) * side));
      auto const end = raw::begin_of(side, size, process + 1) * side;
      count_.push_back(static_cast<int>(end) - first_.back());
    }
    auto const first = first_[static_cast<std::size_t>(rank)];
    own_count_ = count_[static_cast<std::size_t>(rank)];
    own_ = raw::make_doubles(own_count_);
    for (int i = 0; i < own_count_; ++i) own_[static_cast<std::size_t>(i)] = start_at(first + i);
  }

  void gather() {
    MPI_Allgatherv(own_.get(), own_count_, MPI_DOUBLE, all_.get(), count_.data(), first_.data(),
                   MPI_DOUBLE, MPI_COMM_WORLD);
  }

  /// True on every process if each has all cells as `v` has them.
  [[nodiscard]] bool equals(ts::DistArray<double, 2> const& v) const {
    std::int64_t equal_cells = 0;
    ts::for_each_shard(v, [&](auto const& shard) {
      auto const n = shard.extent(1);
      for (std::int64_t i = 0; i < shard.extent(0); ++i)
        for (std::int64_t j = 0; j < n; ++j)
          if (shard(i, j) == all_[static_cast<std::size_t>(i * n + j)]) ++equal_cells;
    });
    int is_equal = equal_cells == cells_ ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_equal, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return is_equal == 1;
  }

 private:
  raw::Doubles own_, all_;
  std::int64_t cells_;
  int own_count_ = 0;
  std::vector<int> count_, first_;
};

void print(Case const& what, char const* form, std::vector<Pair> const& pairs,
           std::int64_t extra_bytes) {
  (void)bench::print(what, pairs, true, form, ", \"extra_bytes\": " + std::to_string(extra_bytes));
}

int run(Case const& what) {
  auto const n = what.cells;
  ts::Mesh mesh({{"x", ts::device_count()}});
  ts::NamedSharding by_rows(mesh, ts::P("x", ts::none)), by_columns(mesh, ts::P(ts::none, "x"));
  auto u =
      ts::from_index<double>({n, n}, by_rows, [=](auto i) { return start_at(i[0] * n + i[1]); });
  auto v = ts::zeros<double>({n, n}, by_columns);
  RawBlocks raw(n);

  auto const assign = [&] { v(ts::all, ts::all) = u; };
  auto const reshard = [&] { (void)ts::reshard(u, by_columns); };
  auto const own_bytes = n * raw::begin_of(n, ts::process_count(), 1) * 8;
  auto const assign_growth = peak_growth(assign);
  auto const reshard_growth = peak_growth(reshard) - own_bytes;
  bool is_right = true;
  for (auto const method : {&RawBlocks::by_alltoallv, &RawBlocks::by_alltoallw}) {
    raw.clear();
    (raw.*method)();
    is_right = is_right && ts::hash(v) == raw.hash() && ts::hash(u) == raw.hash();
  }
  is_right = is_right && ts::hash(ts::reshard(u, by_columns)) == raw.hash();
  if (!is_right) return 1;

  std::vector<Pair> assigned, assigned_w, resharded;
  for (int i = 0; i <= what.pairs; ++i) {
    double by_v = 0, by_w = 0;
    auto const run_raw = [&] {
      by_v = time(what.steps, [&] { raw.by_alltoallv(); });
      by_w = time(what.steps, [&] { raw.by_alltoallw(); });
    };
    if (i % 2 == 0) run_raw();
    auto const by_assign = time(what.steps, assign);
    auto const by_reshard = time(what.steps, reshard);
    if (i % 2 != 0) run_raw();
    if (i == 0) continue;
    assigned.push_back({by_assign, by_v});
    assigned_w.push_back({by_assign, by_w});
    resharded.push_back({by_reshard, by_v});
  }
  print(what, "assign", assigned, assign_growth);
  print(what, "assign-w", assigned_w, assign_growth);
  print(what, "reshard", resharded, reshard_growth);
  return 0;
}

int run_copies(Case const& what) {
  auto const n = what.cells;
  ts::Mesh mesh({{"x", ts::device_count()}});
  auto const u = ts::from_index<double>({n, n}, {mesh, ts::P("x", ts::none)},
                                        [=](auto i) { return start_at(i[0] * n + i[1]); });
  auto v = ts::zeros<double>({n, n}, {mesh, ts::P(ts::none, ts::none)});
  RawCopies raw(n);
  auto const assign = [&] { v(ts::all, ts::all) = u; };
  auto const growth = peak_growth(assign);
  raw.gather();
  if (!raw.equals(v)) return 1;
  print(what, "copies", bench::time_pairs(what, assign, [&] { raw.gather(); }), growth);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  return what->label.starts_with("copies") ? run_copies(*what) : run(*what);
}
