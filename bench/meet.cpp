// What a program pays beside its cells when processes meet: a pair of fences beside two barriers of
// MPI, and a loop of ten steps, which is recorded and prepared each time, beside the same written
// by hand. A step of a case is one of these.
//
//   bench_meet LABEL 1 CELLS STEPS PAIRS     prints one line of JSON; see bench/run
#include <cstdint>
#include <cstdio>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "pairs.hpp"
#include "raw/heat_1d.hpp"

namespace ts = tessera;

namespace {

auto const inner = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);
constexpr double stay = 0.8, pass = 0.1;
constexpr int steps_of_loop = 10;

ts::DistArray<double, 1> start(std::int64_t cells) {
  ts::Mesh mesh({{"x", ts::device_count()}});
  return ts::from_index<double>({cells}, {mesh, ts::P("x")},
                                [](auto i) { return bench::start_at(i[0]); });
}

int fences(bench::Case const& what) {
  auto u = start(what.cells);
  auto const pairs = bench::time_pairs(
      what,
      [&] {
        ts::fence(u);
        ts::fence(u);
      },
      [] {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
      });
  return bench::print(what, pairs, true);
}

int loops(bench::Case const& what) {
  auto u = start(what.cells);
  raw::Heat1d by_hand(what.cells, false, stay, pass);
  by_hand.fill(bench::start_at);
  auto const pairs = bench::time_pairs(
      what,
      [&] {
        ts::iterate(steps_of_loop,
                    [&] { u(inner) = stay * u(inner) + pass * u(before) + pass * u(after); });
      },
      [&] {
        for (int step = 0; step < steps_of_loop; ++step) by_hand.step();
      });
  // Both have done equally many steps.
  bool is_equal = true;
  for (auto const& shard : u.addressable_shards())
    for (std::int64_t i = 0; i < by_hand.count(); ++i)
      is_equal = is_equal && shard.data()[i] == by_hand[i];
  return bench::print(what, pairs, is_equal);
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  if (what->label.starts_with("fences")) return fences(*what);
  if (what->label.starts_with("iterate")) return loops(*what);
  std::fprintf(stderr, "cases begin with fences or iterate\n");
  return 2;
}
