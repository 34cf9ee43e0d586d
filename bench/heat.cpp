// The heat equation as a plain loop of Tessera statements and as a recorded one, beside the same
// written by hand with MPI. All run in turn in the same processes on the same cores and have to end
// with the same bits.
//
//   bench_heat LABEL DIMENSIONS CELLS STEPS PAIRS     prints one line of JSON; see bench/run
#include <cstdint>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "forms.hpp"
#include "one_core.hpp"
#include "raw/heat_1d.hpp"
#include "raw/heat_2d.hpp"
#include "raw/heat_3d.hpp"

namespace ts = tessera;

using bench::Case;
using bench::Field;
using bench::start_at;

namespace {

auto const inner = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);

struct Heat1d {
  static constexpr double stay = 0.8, pass = 0.1;
  Field<1> u;

  void step() { u(inner) = stay * u(inner) + pass * u(before) + pass * u(after); }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const { return {ts::hash(u)}; }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(raw::Heat1d const& u) {
    return bench::raw_hashes(1, [&](auto const& visit) {
      for (std::int64_t i = 0; i < u.count(); ++i) visit(0, u.first() + i, u[i]);
    });
  }
};

struct Heat2d {
  static constexpr double stay = 0.6, pass = 0.1;
  Field<2> u;

  void step() {
    u(inner, inner) = stay * u(inner, inner) + pass * u(before, inner) + pass * u(after, inner) +
                      pass * u(inner, before) + pass * u(inner, after);
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const { return {ts::hash(u)}; }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(raw::Heat2d const& u) {
    return bench::raw_hashes(1, [&](auto const& visit) {
      for (std::int64_t i = 0; i < u.rows().count; ++i)
        for (std::int64_t j = 0; j < u.columns().count; ++j)
          visit(0, (u.rows().first + i) * u.width() + u.columns().first + j, u(i, j));
    });
  }
};

struct Heat3d {
  static constexpr double stay = 0.4, pass = 0.1;
  Field<3> u;

  void step() {
    u(inner, inner, inner) = stay * u(inner, inner, inner) + pass * u(before, inner, inner) +
                             pass * u(after, inner, inner) + pass * u(inner, before, inner) +
                             pass * u(inner, after, inner) + pass * u(inner, inner, before) +
                             pass * u(inner, inner, after);
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const { return {ts::hash(u)}; }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(raw::Heat3d const& u) {
    auto const [planes, rows, columns] = u.cells();
    return bench::raw_hashes(1, [&, rows = rows, columns = columns](auto const& visit) {
      for (std::int64_t i = 0; i < u.planes().count; ++i)
        for (std::int64_t j = 0; j < rows; ++j)
          for (std::int64_t k = 0; k < columns; ++k)
            visit(0, ((u.planes().first + i) * rows + j) * columns + k, u(i, j, k));
    });
  }
};

constexpr std::int64_t bytes_per_cell = 2 * sizeof(double);  // read once, written once

int bench_1d(Case const& what) {
  auto const n = what.cells;
  ts::Mesh mesh({{"x", ts::device_count()}});
  Heat1d const start{
      ts::from_index<double>({n}, {mesh, ts::P("x")}, [](auto i) { return start_at(i[0]); })};
  raw::Heat1d raw(n, false, Heat1d::stay, Heat1d::pass);
  raw.fill(start_at);
  return bench::compare(what, start, raw, bytes_per_cell * n);
}

int bench_2d(Case const& what) {
  auto const n = what.cells;
  ts::Mesh mesh({{"y", ts::device_count()}});
  Heat2d const start{ts::from_index<double>({n, n}, {mesh, ts::P("y", ts::none)},
                                            [=](auto i) { return start_at(i[0] * n + i[1]); })};
  raw::Heat2d raw({n, n}, {static_cast<int>(ts::process_count()), 1}, false, Heat2d::stay,
                  Heat2d::pass);
  raw.fill([=](std::int64_t i, std::int64_t j) { return start_at(i * n + j); });
  return bench::compare(what, start, raw, bytes_per_cell * n * n);
}

int bench_3d(Case const& what) {
  auto const n = what.cells;
  ts::Mesh mesh({{"z", ts::device_count()}});
  Heat3d const start{
      ts::from_index<double>({n, n, n}, {mesh, ts::P("z", ts::none, ts::none)},
                             [=](auto i) { return start_at((i[0] * n + i[1]) * n + i[2]); })};
  raw::Heat3d raw({n, n, n}, Heat3d::stay, Heat3d::pass);
  raw.fill([=](std::int64_t i, std::int64_t j, std::int64_t k) {
    return start_at((i * n + j) * n + k);
  });
  return bench::compare(what, start, raw, bytes_per_cell * n * n * n);
}

int bench_case(Case const& what) {
  if (what.dimensions == 1) return bench_1d(what);
  return what.dimensions == 2 ? bench_2d(what) : bench_3d(what);
}

template <class Loop>
int time_one_core(Case const& what, Loop loop) {
  return bench::time_one_core(
      what, loop, [&] { return std::vector{bench::hash_of(loop.u.now.get(), loop.u.cells)}; });
}

int bench_one_core(Case const& what) {
  auto const n = what.cells;
  if (what.dimensions == 1)
    return time_one_core(what, one_core::Heat1d{n, Heat1d::stay, Heat1d::pass, {n, start_at}});
  if (what.dimensions == 2)
    return time_one_core(what, one_core::Heat2d{n, Heat2d::stay, Heat2d::pass, {n * n, start_at}});
  return time_one_core(what,
                       one_core::Heat3d{n, Heat3d::stay, Heat3d::pass, {n * n * n, start_at}});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_case_or_stream(argc, argv, bench_case, bench_one_core);
}
