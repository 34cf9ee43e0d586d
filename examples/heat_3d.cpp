// Heat in a block that is cut in all three directions: seven cells make the next one.
#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/report.hpp"
#include "support/run.hpp"
#include "support/show.hpp"
#include "support/wave.hpp"

namespace ts = tessera;

namespace {

void simulate(examples::Options const& options, examples::Report& report) {
  constexpr double stay = 0.4, pass = 0.1;
  examples::Wave const wave(options.cells, options.periodic, stay, pass);
  ts::Mesh mesh({{"z", options.mesh[0]}, {"y", options.mesh[1]}, {"x", options.mesh[2]}});
  ts::NamedSharding blocks(mesh, ts::P("z", "y", "x"));
  auto const filled_from = [&](examples::WaveAt const& moment) {
    return ts::from_index<double>({wave.extent(0), wave.extent(1), wave.extent(2)}, blocks,
                                  [&](auto i) { return moment(i[0], i[1], i[2]); });
  };
  auto u = filled_from(wave.start());
  double const heat_at_start = ts::sum(u);

  auto const in = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);
  auto const step = [&] {
    if (options.periodic)
      u = stay * u + pass * (ts::roll(u, 1, 0) + ts::roll(u, -1, 0) + ts::roll(u, 1, 1) +
                             ts::roll(u, -1, 1) + ts::roll(u, 1, 2) + ts::roll(u, -1, 2));
    else
      u(in, in, in) =
          stay * u(in, in, in) + pass * (u(before, in, in) + u(after, in, in) + u(in, before, in) +
                                         u(in, after, in) + u(in, in, before) + u(in, in, after));
  };
  report.start_clock();
  ts::iterate(options.steps, step, ts::every(examples::steps_between_looks),
              [&](std::int64_t done) { report.progress(done); });
  ts::synchronize();
  report.stop_clock();

  examples::show(u(wave.extent(0) / 2, ts::all, ts::all), options, report);  // the middle plane
  auto const allowed = examples::Wave::rounding_of(options.steps);
  report.total("heat", heat_at_start, ts::sum(u),
               options.periodic ? allowed : examples::any_change);
  report.error(ts::max(ts::abs(u - filled_from(wave.after(options.steps)))), allowed);
  report.time();
  report.bits(ts::hash(u));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  return examples::run(argc, argv,
                       {.name = "heat_3d",
                        .description = "Heat in a block, by slices or by roll",
                        .defaults = {.cells = {200, 200, 200}, .steps = 200},
                        .writes_png = true},
                       simulate);
}
