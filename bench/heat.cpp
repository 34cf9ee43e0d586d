// The heat equation as a plain loop of Tessera statements and as a recorded one, beside the same
// written by hand with MPI. All run in turn in the same processes on the same cores and have to end
// with the same bits.
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
using bench::time_forms;

namespace {

std::uint64_t sum_over_processes(std::uint64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

std::uint64_t hash_of(raw::Heat1d const& v) {
  std::uint64_t hash = 0;
  for (std::int64_t i = 0; i < v.count(); ++i)
    hash += ts::mix(static_cast<std::uint64_t>(v.first() + i), ts::bits_of(v[i]));
  return hash;
}

std::uint64_t hash_of(raw::Heat2d const& v) {
  std::uint64_t hash = 0;
  for (std::int64_t i = 0; i < v.rows().count; ++i)
    for (std::int64_t j = 0; j < v.columns().count; ++j)
      hash += ts::mix(
          static_cast<std::uint64_t>((v.rows().first + i) * v.width() + v.columns().first + j),
          ts::bits_of(v(i, j)));
  return hash;
}

template <std::size_t N>
using Field = ts::DistArray<double, N>;

// The plain loop and the recorded one, each on an array of its own, beside the raw version.
template <std::size_t N, class Step, class Raw>
int compare(Case const& what, Field<N> const& start, Step const& step, Raw& raw) {
  auto u = start, v = start;
  auto program = ts::record([&] { step(v); });
  auto const times = time_forms(what,
                                {{"plain",
                                  [&](std::int64_t steps) {
                                    for (std::int64_t i = 0; i < steps; ++i) step(u);
                                  }},
                                 {"iterate", [&](std::int64_t steps) { program.run(steps); }}},
                                [&] { raw.step(); });
  auto const wanted = sum_over_processes(hash_of(raw));
  auto const plain_is_wrong = print(what, times[0], ts::hash(u) == wanted, "plain");
  auto const iterate_is_wrong = print(what, times[1], ts::hash(v) == wanted, "iterate");
  return plain_is_wrong + iterate_is_wrong;
}

auto const inner = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);

int bench_1d(Case const& what) {
  constexpr double stay = 0.8, pass = 0.1;
  ts::Mesh mesh({{"x", ts::device_count()}});
  ts::NamedSharding pieces(mesh, ts::P("x"));
  auto const start =
      ts::from_index<double>({what.cells}, pieces, [](auto i) { return start_at(i[0]); });
  raw::Heat1d raw(what.cells, false, stay, pass);
  raw.fill(start_at);
  return compare(
      what, start,
      [](Field<1>& u) { u(inner) = stay * u(inner) + pass * u(before) + pass * u(after); }, raw);
}

int bench_2d(Case const& what) {
  constexpr double stay = 0.6, pass = 0.1;
  auto const n = what.cells;
  ts::Mesh mesh({{"y", ts::device_count()}});
  ts::NamedSharding rows(mesh, ts::P("y", ts::none));
  auto const start =
      ts::from_index<double>({n, n}, rows, [=](auto i) { return start_at(i[0] * n + i[1]); });
  raw::Heat2d raw({n, n}, {static_cast<int>(ts::process_count()), 1}, false, stay, pass);
  raw.fill([=](std::int64_t i, std::int64_t j) { return start_at(i * n + j); });
  return compare(
      what, start,
      [](Field<2>& u) {
        u(inner, inner) = stay * u(inner, inner) + pass * u(before, inner) +
                          pass * u(after, inner) + pass * u(inner, before) + pass * u(inner, after);
      },
      raw);
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  return what->dimensions == 1 ? bench_1d(*what) : bench_2d(*what);
}
