// The wave equation in a plane as a plain loop of Tessera statements and as a recorded one, beside
// the same written by hand with MPI. A step overwrites the state before; then the two swap.
//
//   bench_wave LABEL 2 CELLS STEPS PAIRS     prints one line of JSON; see bench/run
#include <cstdint>
#include <utility>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "forms.hpp"
#include "one_core.hpp"
#include "raw/wave_2d.hpp"

namespace ts = tessera;

using bench::start_at;

namespace {

auto const inner = ts::range(1, -1), up = ts::range(0, -2), down = ts::from(2);
auto const left = up, right = down;

struct Wave {
  static constexpr double c = 0.25;
  bench::Field<2> now, before;

  void step() {
    before(inner, inner) = 2.0 * now(inner, inner) - before(inner, inner) +
                           c * (now(up, inner) + now(down, inner) + now(inner, left) +
                                now(inner, right) - 4.0 * now(inner, inner));
    std::swap(now, before);
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const {
    return {ts::hash(now), ts::hash(before)};
  }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(raw::Wave2d const& wave) {
    return bench::raw_hashes(2, [&](auto const& visit) {
      for (std::int64_t i = 0; i < wave.rows().count; ++i) {
        for (std::int64_t j = 0; j < wave.width(); ++j) {
          auto const cell = (wave.rows().first + i) * wave.width() + j;
          visit(0, cell, wave(i, j));
          visit(1, cell, wave.before(i, j));
        }
      }
    });
  }
};

int bench_case(bench::Case const& what) {
  auto const n = what.cells;
  ts::Mesh mesh({{"y", ts::device_count()}});
  auto const start = ts::from_index<double>({n, n}, {mesh, ts::P("y", ts::none)},
                                            [=](auto i) { return start_at(i[0] * n + i[1]); });
  raw::Wave2d raw({n, n}, Wave::c);
  raw.fill([=](std::int64_t i, std::int64_t j) { return start_at(i * n + j); });
  constexpr std::int64_t bytes_per_cell = 3 * sizeof(double);  // two read, one of them written
  return bench::compare(what, Wave{start, start}, raw, bytes_per_cell * n * n);
}

int bench_one_core(bench::Case const& what) {
  auto const n = what.cells;
  one_core::Wave2d loop{n, Wave::c, {n * n, start_at}};
  return bench::time_one_core(what, loop, [&] {
    return std::vector{bench::hash_of(loop.u.now.get(), n * n),
                       bench::hash_of(loop.u.next.get(), n * n)};
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_case_or_stream(argc, argv, bench_case, bench_one_core);
}
