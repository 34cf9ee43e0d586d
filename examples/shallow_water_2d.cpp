// Shallow water that sloshes in a closed basin, on a staggered grid: a height in each cell, and the
// flow through each face between two cells. So the three arrays have three shapes, and the loop
// still runs in blocks of steps.
#include <tessera/tessera.hpp>

#include "support/basin.hpp"
#include "support/options.hpp"
#include "support/report.hpp"
#include "support/run.hpp"
#include "support/show.hpp"

namespace ts = tessera;

namespace {

void simulate(examples::Options const& options, examples::Report& report) {
  constexpr double ratio = 0.5;  // speed of waves · time step / cell
  auto const [rows, columns] = std::pair(options.cells[0], options.cells[1]);
  examples::Sloshing const water(rows, columns, ratio);
  ts::Mesh mesh({{"y", options.mesh[0]}, {"x", options.mesh[1]}});
  ts::NamedSharding tiles(mesh, ts::P("y", "x"));
  auto const height_after = [&](std::int64_t steps) {
    return ts::from_index<double>(
        {rows, columns}, tiles,
        [moment = water.height_after(steps)](auto i) { return moment(i[0], i[1]); });
  };
  // The water is highest at the start, and half a step earlier it still flows there.
  auto height = height_after(0);
  auto south =
      ts::from_index<double>({rows + 1, columns}, tiles,
                             [flow = water.south_before()](auto i) { return flow(i[0], i[1]); });
  auto east =
      ts::from_index<double>({rows, columns + 1}, tiles,
                             [flow = water.east_before()](auto i) { return flow(i[0], i[1]); });

  auto const inner = ts::range(1, -1), less = ts::range(0, -1), more = ts::from(1);
  auto const step = [&] {
    south(inner, ts::all) -= ratio * (height(more, ts::all) - height(less, ts::all));
    east(ts::all, inner) -= ratio * (height(ts::all, more) - height(ts::all, less));
    height -= ratio * (south(more, ts::all) - south(less, ts::all) + east(ts::all, more) -
                       east(ts::all, less));
  };
  report.start_clock();
  ts::iterate(options.steps, step, ts::every(examples::steps_between_looks),
              [&](std::int64_t done) { report.progress(done); });
  ts::synchronize();
  report.stop_clock();

  examples::show(height, options, report);
  ts::DistArray const off = height - height_after(options.steps);
  report.error(ts::sqrt(ts::mean(off * off)), examples::Sloshing::rounding_of(options.steps));
  report.time();
  report.bits(ts::hash(height));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  return examples::run(argc, argv,
                       {.name = "shallow_water_2d",
                        .description = "Shallow water that sloshes in a closed basin",
                        .defaults = {.cells = {2000, 2000}, .steps = 500},
                        .chooses_ends = false,
                        .writes_png = true},
                       simulate);
}
