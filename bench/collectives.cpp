// Collectives on arrays beside those of MPI, in doubles. Both run in turn in the same processes,
// one device each, and have to end with the same values: with the same bits where nothing is added
// up.
//
//   bench_collectives LABEL DIMENSIONS CELLS STEPS PAIRS     prints a line of JSON for each form
//
// CELLS is the number of doubles that each process has before, or of the sum. The forms:
//
//   all_gather      ts::all_gather        MPI_Allgather
//   all_reduce      ts::all_reduce        MPI_Allreduce
//   reduce_scatter  ts::reduce_scatter    MPI_Reduce_scatter, of MPI's shares
//   all_to_all      ts::all_to_all        MPI_Alltoallv
//
// and with values of each process in a group (ts::PerDevice):
//
//   values.NAME     the same, and gather, scatter, broadcast, reduce, send_recv, as MPI's
//
// For scatter and all_to_all of values CELLS is the number of doubles for each pair of processes.
// Tessera's calls return new arrays; MPI's write into memory that is there.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <mpi.h>
#include <tessera/collectives.hpp>

#include "pairs.hpp"
#include "raw/aligned.hpp"

namespace ts = tessera;

namespace {

// Cells [first(k), first(k + 1)) of `cells` are those of process k.
struct Shares {
  explicit Shares(std::int64_t cells) : first(static_cast<std::size_t>(ts::process_count()) + 1) {
    for (std::size_t k = 0; k < first.size(); ++k)
      first[k] = static_cast<int>(
          raw::begin_of(cells, static_cast<int>(first.size()) - 1, static_cast<int>(k)));
    for (std::size_t k = 0; k + 1 < first.size(); ++k) count.push_back(first[k + 1] - first[k]);
  }
  std::vector<int> first, count;
};

// MPI adds in another order.
bool is_sum(double a, double b) {
  return std::abs(a - b) <= 1e-12 * std::abs(b);
}
bool is_same(double a, double b) {
  return a == b;
}

class Collectives {
 public:
  explicit Collectives(bench::Case const& what) : what_(what) {}

  int run() {
    all_gather();
    all_reduce();
    reduce_scatter();
    all_to_all();
    move_values();
    combine_values();
    return is_right_ ? 0 : 1;
  }

 private:
  // Cells of this process as the raw version has them; those of Tessera's array start alike.
  [[nodiscard]] raw::Doubles started(std::int64_t first, std::int64_t cells) const {
    auto result = raw::make_doubles(cells);
    for (std::int64_t i = 0; i < cells; ++i)
      result[static_cast<std::size_t>(i)] = bench::start_at(first + i);
    return result;
  }

  // Times both, and compares the cells that this process has at the end.
  template <class Ours, class Raw>
  void compare(char const* form, Ours const& ours, Raw const& raw, double const* expected,
               bool (*equals)(double, double)) {
    raw();
    int is_right = 1;
    auto const result = ours();
    for (auto const& shard : result.addressable_shards())
      for (std::int64_t i = 0; i < shard.size(); ++i)
        if (!equals(shard.data()[i], expected[i])) is_right = 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    is_right_ = is_right_ && is_right == 1;
    auto const pairs = bench::time_pairs(
        what_, [&] { (void)ours(); }, raw);
    (void)bench::print(what_, pairs, is_right == 1, form);
  }

  void all_gather() {
    auto const n = what_.cells;
    auto const u = ts::from_index<double>({n * processes_}, {mesh_, ts::P("x")},
                                          [](auto i) { return bench::start_at(i[0]); });
    auto const own = started(self_ * n, n);
    auto const all = raw::make_doubles(n * processes_);
    compare(
        "all_gather", [&] { return ts::all_gather(u, "x"); },
        [&] {
          MPI_Allgather(own.get(), static_cast<int>(n), MPI_DOUBLE, all.get(), static_cast<int>(n),
                        MPI_DOUBLE, MPI_COMM_WORLD);
        },
        all.get(), is_same);
  }

  [[nodiscard]] ts::DistArray<double, 1> partial() const {
    auto const n = what_.cells;
    return ts::from_partials(
        ts::from_index<double>({processes_, n}, {mesh_, ts::P("x", ts::none)},
                               [=](auto i) { return bench::start_at(i[0] * n + i[1]); }));
  }

  void all_reduce() {
    auto const n = what_.cells;
    auto const u = partial();
    auto const own = started(self_ * n, n);
    auto const sum = raw::make_doubles(n);
    compare(
        "all_reduce", [&] { return ts::all_reduce(u, "x"); },
        [&] {
          MPI_Allreduce(own.get(), sum.get(), static_cast<int>(n), MPI_DOUBLE, MPI_SUM,
                        MPI_COMM_WORLD);
        },
        sum.get(), is_sum);
  }

  void reduce_scatter() {
    auto const n = what_.cells;
    auto const u = partial();
    Shares const shares(n);
    auto const own = started(self_ * n, n);
    auto const sum = raw::make_doubles(shares.count[static_cast<std::size_t>(self_)] + 1);
    compare(
        "reduce_scatter", [&] { return ts::reduce_scatter(u, "x", 0); },
        [&] {
          MPI_Reduce_scatter(own.get(), sum.get(), shares.count.data(), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
        },
        sum.get(), is_sum);
  }

  // Each process has a column of rows; it sends each process the rows of its own.
  void all_to_all() {
    auto const n = what_.cells;
    auto const u = ts::from_index<double>({n, processes_}, {mesh_, ts::P(ts::none, "x")},
                                          [=](auto i) { return bench::start_at(i[1] * n + i[0]); });
    Shares const shares(n);
    auto const own = started(self_ * n, n);
    auto const mine = shares.count[static_cast<std::size_t>(self_)];
    std::vector<int> const counts(static_cast<std::size_t>(processes_), mine);
    std::vector<int> firsts;
    for (int k = 0; k < processes_; ++k) firsts.push_back(k * mine);
    auto const columns = raw::make_doubles(mine * processes_ + 1);
    auto const rows = raw::make_doubles(mine * processes_ + 1);
    compare(
        "all_to_all", [&] { return ts::all_to_all(u, "x", {.from = 1, .to = 0}); },
        [&] {
          MPI_Alltoallv(own.get(), shares.count.data(), shares.first.data(), MPI_DOUBLE,
                        columns.get(), counts.data(), firsts.data(), MPI_DOUBLE, MPI_COMM_WORLD);
          for (int i = 0; i < mine; ++i)
            for (int k = 0; k < processes_; ++k)
              rows.get()[i * processes_ + k] = columns.get()[k * mine + i];
        },
        rows.get(), is_same);
  }

  // Times both, and compares what this process has at the end, if it has anything.
  template <class Ours, class Raw>
  void compare_values(char const* form, Ours const& ours, Raw const& raw, double const* expected,
                      bool (*equals)(double, double) = is_same) {
    raw();
    int is_right = 1;
    auto const result = ours();
    ts::per_member(
        [&](ts::Member, ts::ShardView<double const, 1> const& view) {
          for (std::int64_t i = 0; i < view.size(); ++i)
            if (!equals(view(i), expected[i])) is_right = 0;
        },
        result);
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    is_right_ = is_right_ && is_right == 1;
    auto const pairs = bench::time_pairs(
        what_, [&] { (void)ours(); }, raw);
    (void)bench::print(what_, pairs, is_right == 1, form);
  }

  [[nodiscard]] ts::PerDevice<double, 1> values(std::int64_t cells) const {
    return ts::per_device<double>(mesh_.group("x"), {cells}, [=](ts::Member m, auto i) {
      return bench::start_at(m.rank * cells + i[0]);
    });
  }

  void move_values() {
    auto const n = what_.cells;
    auto const count = static_cast<int>(n);
    auto const x = values(n), all = values(n * processes_);
    auto const own = started(self_ * n, n), many = started(self_ * n * processes_, n * processes_);
    auto const to = raw::make_doubles(n * processes_);
    compare_values(
        "values.all_gather", [&] { return ts::all_gather(x, 0); },
        [&] {
          MPI_Allgather(own.get(), count, MPI_DOUBLE, to.get(), count, MPI_DOUBLE, MPI_COMM_WORLD);
        },
        to.get());
    compare_values(
        "values.gather", [&] { return ts::gather(x, 0, 0); },
        [&] {
          MPI_Gather(own.get(), count, MPI_DOUBLE, to.get(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        },
        to.get());
    compare_values(
        "values.scatter", [&] { return ts::scatter(all, 0, 0); },
        [&] {
          MPI_Scatter(many.get(), count, MPI_DOUBLE, to.get(), count, MPI_DOUBLE, 0,
                      MPI_COMM_WORLD);
        },
        to.get());
    compare_values(
        "values.all_to_all", [&] { return ts::all_to_all(all); },
        [&] {
          MPI_Alltoall(many.get(), count, MPI_DOUBLE, to.get(), count, MPI_DOUBLE, MPI_COMM_WORLD);
        },
        to.get());
    std::copy(own.get(), own.get() + n, to.get());
    compare_values(
        "values.broadcast", [&] { return ts::broadcast(x, 0); },
        [&] { MPI_Bcast(to.get(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD); }, to.get());
    auto const last = processes_ - 1;
    compare_values(
        "values.send_recv", [&] { return ts::send_recv(x, 0, last); },
        [&] {
          if (self_ == 0) MPI_Send(own.get(), count, MPI_DOUBLE, last, 0, MPI_COMM_WORLD);
          if (self_ == last)
            MPI_Recv(to.get(), count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        },
        to.get());
  }

  void combine_values() {
    auto const n = what_.cells;
    auto const count = static_cast<int>(n);
    auto const x = values(n);
    auto const own = started(self_ * n, n);
    auto const sum = raw::make_doubles(n);
    Shares const shares(n);
    compare_values(
        "values.all_reduce", [&] { return ts::all_reduce(x); },
        [&] { MPI_Allreduce(own.get(), sum.get(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); },
        sum.get(), is_sum);
    compare_values(
        "values.reduce", [&] { return ts::reduce(x, 0); },
        [&] { MPI_Reduce(own.get(), sum.get(), count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); },
        sum.get(), is_sum);
    compare_values(
        "values.reduce_scatter", [&] { return ts::reduce_scatter(x, 0); },
        [&] {
          MPI_Reduce_scatter(own.get(), sum.get(), shares.count.data(), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
        },
        sum.get(), is_sum);
  }

  bench::Case what_;
  int processes_ = static_cast<int>(ts::process_count());
  int self_ = static_cast<int>(ts::process().value());
  ts::Mesh mesh_{{"x", ts::device_count()}};
  bool is_right_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  if (ts::device_count() != ts::process_count()) {
    std::fprintf(stderr, "each process has to have one device: set TESSERA_DEVICES=1\n");
    return 2;
  }
  return Collectives(*what).run();
}
