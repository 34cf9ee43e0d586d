// The sum of an array, the same bits for any number of devices, beside a plain loop and
// MPI_Allreduce. Labels that begin with "fast" ask for Tessera's plain sum.
//
//   bench_sum LABEL 1 CELLS STEPS PAIRS     prints one line of JSON; see bench/run
#include <cmath>
#include <cstdint>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "pairs.hpp"
#include "raw/aligned.hpp"

namespace ts = tessera;

namespace {

/// In vectors, which a compiler must not make of a plain loop by itself.
double plain_sum(double const* cells, std::int64_t count) {
  constexpr std::int64_t lanes = 32;
  double partial[lanes] = {};
  std::int64_t first = 0;
  for (; first + lanes <= count; first += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane) partial[lane] += cells[first + lane];
  double sum = 0;
  for (double const part : partial) sum += part;
  for (; first < count; ++first) sum += cells[first];
  return sum;
}

double sum_over_processes(double here) {
  double sum = 0;
  MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  auto const n = what->cells;
  ts::Mesh mesh({{"x", ts::device_count()}});
  auto const u =
      ts::from_index<double>({n}, {mesh, ts::P("x")}, [](auto i) { return bench::start_at(i[0]); });
  auto const self = ts::process().value();
  auto const first = raw::begin_of(n, ts::process_count(), self);
  auto const count = raw::begin_of(n, ts::process_count(), self + 1) - first;
  auto const cells = raw::make_doubles(count);
  for (std::int64_t i = 0; i < count; ++i) cells.get()[i] = bench::start_at(first + i);

  double ours = 0;
  double plain = 0;
  auto const raw_step = [&] { plain = sum_over_processes(plain_sum(cells.get(), count)); };
  auto const pairs = what->label.starts_with("fast")
                         ? bench::time_pairs(
                               *what, [&] { ours = ts::sum(u, ts::fast); }, raw_step)
                         : bench::time_pairs(
                               *what, [&] { ours = ts::sum(u); }, raw_step);
  return bench::print(*what, pairs, std::abs(ours - plain) <= 1e-12 * plain);
}
