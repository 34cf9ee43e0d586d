// A membrane that swings: two moments of it are kept, and each step writes the next one over the
// older.
#include <utility>

#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/report.hpp"
#include "support/run.hpp"
#include "support/show.hpp"
#include "support/wave.hpp"

namespace ts = tessera;

namespace {

void simulate(examples::Options const& options, examples::Report& report) {
  constexpr double ratio = 0.25;  // (speed · time step / cell)²
  examples::StandingWave const wave(options.cells, ratio);
  ts::Mesh mesh({{"y", options.mesh[0]}, {"x", options.mesh[1]}});
  ts::NamedSharding tiles(mesh, ts::P("y", "x"));
  auto const height_after = [&](std::int64_t steps) {
    return ts::from_index<double>(
        {wave.extent(0), wave.extent(1)}, tiles,
        [moment = wave.after(steps)](auto i) { return moment(i[0], i[1]); });
  };
  auto before = height_after(-1), now = height_after(0);

  auto const inner = ts::range(1, -1), less = ts::range(0, -2), more = ts::from(2);
  auto const step = [&] {
    before(inner, inner) = 2.0 * now(inner, inner) - before(inner, inner) +
                           ratio * (now(less, inner) + now(more, inner) + now(inner, less) +
                                    now(inner, more) - 4.0 * now(inner, inner));
    std::swap(before, now);
  };
  report.start_clock();
  ts::iterate(options.steps, step, ts::every(examples::steps_between_looks),
              [&](std::int64_t done) { report.progress(done); });
  ts::synchronize();
  report.stop_clock();

  examples::show(now, options, report);
  ts::DistArray const off = now - height_after(options.steps);
  report.error(ts::sqrt(ts::mean(off * off)), examples::StandingWave::rounding_of(options.steps));
  report.time();
  report.bits(ts::hash(now));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  return examples::run(argc, argv,
                       {.name = "wave_2d",
                        .description = "Waves in a membrane with fixed edges",
                        .defaults = {.cells = {2000, 2000}, .steps = 500},
                        .chooses_ends = false,
                        .writes_png = true},
                       simulate);
}
