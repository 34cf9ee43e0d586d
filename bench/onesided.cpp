// One process reads single cells of another one: u.read beside MPI_Get and MPI_Win_flush. Labels
// that begin with "message" compare with a round trip of UCX's active messages instead, whose other
// end does nothing else; across hosts, or with TESSERA_ROUTE=ucx. There the owner of the cells
// sleeps, so that it takes no core from the thread that answers for it.
//
//   bench_onesided LABEL 1 CELLS STEPS PAIRS     prints one line of JSON; see bench/run
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "support/hash.hpp"

#include "pairs.hpp"
#include TESSERA_RAW_ROUND_TRIP

namespace ts = tessera;

namespace {

/// A window of the second process's cells, which the first one reads without asking.
class Window {
 public:
  Window(int rank, std::vector<double> const& cells) {
    auto const bytes = rank == 1 ? cells.size() * sizeof(double) : 0;
    double* own = nullptr;
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &own, &window_);
    if (rank == 1) std::copy(cells.begin(), cells.end(), own);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window_);
  }
  ~Window() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Window(Window const&) = delete;
  Window& operator=(Window const&) = delete;

  double read(std::int64_t place) const {
    double value = 0;
    MPI_Get(&value, 1, MPI_DOUBLE, 1, place, 1, MPI_DOUBLE, window_);
    MPI_Win_flush(1, window_);
    return value;
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
};

/// The seconds that `steps` steps take, while processes that have ended theirs sleep.
template <class Step>
double time_at_ease(std::int64_t steps, Step const& step) {
  MPI_Barrier(MPI_COMM_WORLD);
  auto const start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < steps; ++i) step();
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
  MPI_Request arrival = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &arrival);
  for (int there = 0; there == 0;) {
    MPI_Test(&arrival, &there, MPI_STATUS_IGNORE);
    if (there == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  return taken.count();
}

template <class Step, class RawStep>
std::vector<bench::Pair> time_pairs_at_ease(bench::Case const& what, Step const& step,
                                            RawStep const& raw_step) {
  std::vector<bench::Pair> pairs;
  for (int i = 0; i <= what.pairs; ++i) {
    bench::Pair pair{};
    if (i % 2 == 0) pair.raw_seconds = time_at_ease(what.steps, raw_step);
    pair.seconds = time_at_ease(what.steps, step);
    if (i % 2 != 0) pair.raw_seconds = time_at_ease(what.steps, raw_step);
    if (i > 0) pairs.push_back(pair);
  }
  return pairs;
}

/// The places that a run reads, in an order that no cache foresees.
struct Places {
  std::int64_t count;
  std::uint64_t next = 0;
  std::int64_t operator()() {
    return static_cast<std::int64_t>(examples::scramble(next++) %
                                     static_cast<std::uint64_t>(count));
  }
};

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what || ts::process_count() != 2) return 2;
  int const rank = static_cast<int>(ts::process().value());
  auto const n = what->cells;
  ts::NamedSharding const halves{ts::Mesh({{"x", 2}}), ts::P("x")};
  auto u = ts::from_index<double>({2 * n}, halves, [](auto i) { return bench::start_at(i[0]); });
  std::vector<double> second(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) second[static_cast<std::size_t>(i)] = bench::start_at(n + i);

  double ours = 0;
  double plain = 0;
  Places our_places{n};
  Places plain_places{n};
  ts::fence(u);
  auto const step = [&] {
    if (rank == 0) ours += u.read({n + our_places()});
  };
  std::vector<bench::Pair> pairs;
  if (what->label.starts_with("message")) {
    raw::RoundTrip round_trip(rank, second);
    pairs = time_pairs_at_ease(*what, step, [&] {
      if (rank == 0)
        plain += round_trip.ask(plain_places());
      else
        round_trip.answer_one();
    });
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    Window const window(rank, second);
    pairs = bench::time_pairs(*what, step, [&] {
      if (rank == 0) plain += window.read(plain_places());
    });
  }
  ts::fence(u);
  return bench::print(*what, pairs, ours == plain);
}
