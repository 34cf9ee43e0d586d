// Heat in a plate that is cut in both directions: the mesh shape is an option, the statements do
// not know it.
#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/report.hpp"
#include "support/run.hpp"
#include "support/show.hpp"
#include "support/wave.hpp"

namespace ts = tessera;

namespace {

void simulate(examples::Options const& options, examples::Report& report) {
  constexpr double stay = 0.6, pass = 0.1;
  examples::Wave const wave(options.cells, options.periodic, stay, pass);
  auto const rows = wave.extent(0), columns = wave.extent(1);

  ts::Mesh mesh({{"y", options.mesh[0]}, {"x", options.mesh[1]}});
  ts::NamedSharding tiles(mesh, ts::P("y", "x"));
  auto const filled_from = [&](examples::WaveAt const& moment) {
    return ts::from_index<double>({rows, columns}, tiles,
                                  [&](auto i) { return moment(i[0], i[1]); });
  };
  auto u = filled_from(wave.start());
  double const heat_at_start = ts::sum(u);

  auto const inner = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);
  auto const step = [&] {
    if (options.periodic)
      u = stay * u + pass * ts::roll(u, 1, 0) + pass * ts::roll(u, -1, 0) +
          pass * ts::roll(u, 1, 1) + pass * ts::roll(u, -1, 1);
    else
      u(inner, inner) = stay * u(inner, inner) + pass * u(before, inner) + pass * u(after, inner) +
                        pass * u(inner, before) + pass * u(inner, after);
  };
  report.start_clock();
  ts::iterate(options.steps, step, ts::every(examples::steps_between_looks),
              [&](std::int64_t done) { report.progress(done); });
  ts::synchronize();
  report.stop_clock();

  examples::show(u, options, report);
  auto const allowed = examples::Wave::rounding_of(options.steps);
  report.total("heat", heat_at_start, ts::sum(u),
               options.periodic ? allowed : examples::any_change);
  auto const exact = filled_from(wave.after(options.steps));
  report.error(ts::max(ts::abs(u - exact)), allowed);
  report.time();
  report.bits(ts::hash(u));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  return examples::run(argc, argv,
                       {.name = "heat_2d",
                        .description = "Heat in a plate, by slices or by roll",
                        .defaults = {.cells = {2000, 2000}, .steps = 500},
                        .writes_png = true},
                       simulate);
}
