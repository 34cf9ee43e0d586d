// The heat equation as a plain loop of Tessera statements, beside the same written by hand with
// MPI. Both run in turn in the same processes on the same cores and have to end with the same bits.
//
//   bench_heat LABEL DIMENSIONS CELLS STEPS PAIRS     prints one line of JSON; see bench/run
#include <array>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "tessera/base/hash.hpp"

#include "pairs.hpp"
#include "raw/heat_1d.hpp"
#include "raw/heat_2d.hpp"
#include "raw/job.hpp"

namespace ts = tessera;

using bench::Case;
using bench::print;
using bench::start_at;
using bench::time_pairs;

namespace {

std::uint64_t sum_over_processes(std::uint64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

int bench_1d(Case const& what) {
  constexpr double stay = 0.8, pass = 0.1;
  ts::Mesh mesh({{"x", ts::device_count()}});
  ts::NamedSharding pieces(mesh, ts::P("x"));
  auto u = ts::from_index<double>({what.cells}, pieces, [](auto i) { return start_at(i[0]); });
  raw::Heat1d v(what.cells, false, stay, pass);
  v.fill(start_at);

  auto const inner = ts::range(1, -1), left = ts::range(0, -2), right = ts::from(2);
  auto const pairs = time_pairs(
      what, [&] { u(inner) = stay * u(inner) + pass * u(left) + pass * u(right); },
      [&] { v.step(); });

  std::uint64_t raw_hash = 0;
  for (std::int64_t i = 0; i < v.count(); ++i)
    raw_hash += ts::mix(static_cast<std::uint64_t>(v.first() + i), ts::bits_of(v[i]));
  return print(what, pairs, ts::hash(u) == sum_over_processes(raw_hash));
}

int bench_2d(Case const& what) {
  constexpr double stay = 0.6, pass = 0.1;
  auto const n = what.cells;
  ts::Mesh mesh({{"y", ts::device_count()}});
  ts::NamedSharding rows(mesh, ts::P("y", ts::none));
  auto u = ts::from_index<double>({n, n}, rows, [=](auto i) { return start_at(i[0] * n + i[1]); });
  raw::Heat2d v({n, n}, {static_cast<int>(ts::process_count()), 1}, false, stay, pass);
  v.fill([=](std::int64_t i, std::int64_t j) { return start_at(i * n + j); });

  auto const inner = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);
  auto const pairs = time_pairs(
      what,
      [&] {
        u(inner, inner) = stay * u(inner, inner) + pass * u(before, inner) +
                          pass * u(after, inner) + pass * u(inner, before) + pass * u(inner, after);
      },
      [&] { v.step(); });

  std::uint64_t raw_hash = 0;
  for (std::int64_t i = 0; i < v.rows().count; ++i)
    for (std::int64_t j = 0; j < v.columns().count; ++j)
      raw_hash +=
          ts::mix(static_cast<std::uint64_t>((v.rows().first + i) * n + v.columns().first + j),
                  ts::bits_of(v(i, j)));
  return print(what, pairs, ts::hash(u) == sum_over_processes(raw_hash));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  return what->dimensions == 1 ? bench_1d(*what) : bench_2d(*what);
}
