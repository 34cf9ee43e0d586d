// Two substances that react and spread in a plane without ends (Gray and Scott), as a plain loop of
// Tessera statements and as a recorded one, beside the same written by hand with MPI.
//
//   bench_gray_scott LABEL 2 CELLS STEPS PAIRS     prints one line of JSON; see bench/run
#include <cstdint>
#include <utility>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "forms.hpp"
#include "one_core.hpp"
#include "raw/gray_scott_2d.hpp"

namespace ts = tessera;

using bench::Field;
using bench::start_at;

namespace {

constexpr raw::GrayScottRates rates{
    .spread_u = 0.16, .spread_v = 0.08, .feed = 0.035, .kill = 0.065};

auto laplacian(Field<2> const& a) {
  return ts::shift(a, {-1, 0}, ts::periodic) + ts::shift(a, {1, 0}, ts::periodic) +
         ts::shift(a, {0, -1}, ts::periodic) + ts::shift(a, {0, 1}, ts::periodic) - 4.0 * a;
}

struct GrayScott {
  Field<2> u, v;
  Field<2> next_u, next_v;

  void step() {
    auto const [spread_u, spread_v, feed, kill] = rates;
    next_u = u + (spread_u * laplacian(u) - u * v * v + feed * (1.0 - u));
    next_v = v + (spread_v * laplacian(v) + u * v * v - (feed + kill) * v);
    std::swap(u, next_u);
    std::swap(v, next_v);
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const { return {ts::hash(u), ts::hash(v)}; }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(raw::GrayScott2d const& raw) {
    return bench::raw_hashes(2, [&](auto const& visit) {
      for (std::int64_t i = 0; i < raw.rows().count; ++i) {
        for (std::int64_t j = 0; j < raw.width(); ++j) {
          auto const cell = (raw.rows().first + i) * raw.width() + j;
          visit(0, cell, raw.u(i, j));
          visit(1, cell, raw.v(i, j));
        }
      }
    });
  }
};

/// Mostly u, with noise in both, so that all cells differ.
double u_at(std::int64_t cell) {
  return 0.75 + 0.25 * start_at(cell);
}
double v_at(std::int64_t cell) {
  return 0.25 * start_at(-1 - cell);
}

int bench_case(bench::Case const& what) {
  auto const n = what.cells;
  ts::Mesh mesh({{"y", ts::device_count()}});
  ts::NamedSharding const rows(mesh, ts::P("y", ts::none));
  auto const u =
      ts::from_index<double>({n, n}, rows, [=](auto i) { return u_at(i[0] * n + i[1]); });
  auto const v =
      ts::from_index<double>({n, n}, rows, [=](auto i) { return v_at(i[0] * n + i[1]); });
  raw::GrayScott2d raw({n, n}, rates);
  raw.fill([=](std::int64_t i, std::int64_t j) { return u_at(i * n + j); },
           [=](std::int64_t i, std::int64_t j) { return v_at(i * n + j); });
  constexpr std::int64_t bytes_per_cell = 4 * sizeof(double);  // two read, two others written
  return bench::compare(what, GrayScott{u, v, u, v}, raw, bytes_per_cell * n * n);
}

int bench_one_core(bench::Case const& what) {
  auto const n = what.cells;
  one_core::GrayScott2d loop{n,
                             rates,
                             {(n + 2) * n, [=](std::int64_t i) { return u_at(i - n); }},
                             {(n + 2) * n, [=](std::int64_t i) { return v_at(i - n); }}};
  return bench::time_one_core(what, loop, [&] {
    return std::vector{bench::hash_of(loop.u.now.get() + n, n * n),
                       bench::hash_of(loop.v.now.get() + n, n * n)};
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_case_or_stream(argc, argv, bench_case, bench_one_core);
}
