// Two substances that spread and react (Gray and Scott): spots grow and divide on a torus. Where
// the start is the same seen in a mirror, so is the end, to the last bit.
#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/tessera.hpp>

#include "support/hash.hpp"
#include "support/options.hpp"
#include "support/report.hpp"
#include "support/run.hpp"
#include "support/show.hpp"

namespace ts = tessera;

namespace {

using Plane = ts::DistArray<double, 2>;

// What a cell's neighbours have more than it; seen in any mirror the same sum.
auto excess(Plane const& a) {
  return ((ts::roll(a, 1, 0) + ts::roll(a, -1, 0)) + (ts::roll(a, 1, 1) + ts::roll(a, -1, 1))) -
         4.0 * a;
}

/// u feeds v, which eats it.
struct Substances {
  Plane u, v, next_u, next_v;

  void step() {
    constexpr double spread_u = 0.16, spread_v = 0.08, feed = 0.037, kill = 0.06;
    next_u = u + spread_u * excess(u) - u * v * v + feed * (1.0 - u);
    next_v = v + spread_v * excess(v) + u * v * v - (feed + kill) * v;
    std::swap(u, next_u);
    std::swap(v, next_v);
  }
};

// Only u, but in the middle a square of both, uneven by a hash that knows no left and right, no up
// and down, and no rows from columns.
Substances start(std::vector<std::int64_t> const& cells, ts::NamedSharding const& tiles) {
  auto const rows = cells[0], columns = cells[1];
  auto const within = std::max<std::int64_t>(std::min(rows, columns) / 5, 2);
  auto const filled = [&](double outside, double inside) {
    return ts::from_index<double>({rows, columns}, tiles, [=](auto i) {
      auto const y = std::abs(2 * i[0] + 1 - rows), x = std::abs(2 * i[1] + 1 - columns);
      if (std::max(x, y) >= within) return outside;
      auto const noise = examples::mix(static_cast<std::uint64_t>(std::min(x, y)),
                                       static_cast<std::uint64_t>(std::max(x, y)));
      return inside + static_cast<double>(noise % 1024) * 0x1p-15;
    });
  };
  auto const u = filled(1.0, 0.5), v = filled(0.0, 0.25);
  return {u, v, u, v};
}

bool is_symmetric(Plane const& a) {
  bool const mirrored = ts::all(a == ts::flip(a, 0) && a == ts::flip(a, 1));
  if (a.extents()[0] != a.extents()[1]) return mirrored;
  return mirrored && ts::all(a == ts::transpose(a));
}

bool is_share(Plane const& a) {
  return ts::min(a) >= 0.0 && ts::max(a) <= 1.0;
}

// Whether iterate and a plain loop end with the same bits.
bool runs_as_plain_loop(Substances const& begin, std::int64_t steps) {
  auto replayed = begin, plain = begin;
  ts::iterate(steps, [&] { replayed.step(); });
  for (std::int64_t i = 0; i < steps; ++i) plain.step();
  return ts::hash(replayed.u) == ts::hash(plain.u) && ts::hash(replayed.v) == ts::hash(plain.v);
}

void simulate(examples::Options const& options, examples::Report& report) {
  ts::Mesh mesh({{"y", options.mesh[0]}, {"x", options.mesh[1]}});
  ts::NamedSharding tiles(mesh, ts::P("y", "x"));
  auto both = start(options.cells, tiles);
  report.check("loop", runs_as_plain_loop(both, std::min<std::int64_t>(options.steps, 20)));

  report.start_clock();
  ts::iterate(
      options.steps, [&] { both.step(); }, ts::every(examples::steps_between_looks),
      [&](std::int64_t done) { report.progress(done); });
  ts::synchronize();
  report.stop_clock();

  examples::show(both.v, options, report);
  report.check("symmetry", is_symmetric(both.u) && is_symmetric(both.v));
  report.check("shares", is_share(both.u) && is_share(both.v));
  report.time();
  report.bits(ts::hash(both.u) ^ ts::hash(both.v));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  return examples::run(argc, argv,
                       {.name = "gray_scott_2d",
                        .description = "Two substances that spread and react on a torus",
                        .defaults = {.cells = {300, 300}, .steps = 5000, .periodic = true},
                        .chooses_ends = false,
                        .writes_png = true},
                       simulate);
}
