// Heat in a plate that is cut in both directions: the mesh shape is an option, the statements do
// not know it.
#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/picture.hpp"
#include "support/report.hpp"
#include "support/wave.hpp"

namespace ts = tessera;
using examples::counted;

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  bool const speaks = ts::process() == ts::ProcessId{0};
  examples::Program const program{.name = "heat_2d",
                                  .description = "Heat in a plate, by slices or by roll",
                                  .defaults = {.cells = {2000, 2000}, .steps = 500},
                                  .workers = ts::device_count()};
  auto const [options, leave] = examples::parse(argc, argv, program, speaks);
  if (leave) return *leave;
  examples::Report report(speaks);
  report.start(program, options, counted(ts::device_count(), "device"));

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
  report.start_clock();
  for (std::int64_t step = 0; step < options.steps; ++step) {
    if (options.periodic)
      u = stay * u + pass * ts::roll(u, 1, 0) + pass * ts::roll(u, -1, 0) +
          pass * ts::roll(u, 1, 1) + pass * ts::roll(u, -1, 1);
    else
      u(inner, inner) = stay * u(inner, inner) + pass * u(before, inner) + pass * u(after, inner) +
                        pass * u(inner, before) + pass * u(inner, after);
    report.progress(step);
  }
  ts::synchronize();
  report.stop_clock();

  if (options.picture) {
    auto const down = examples::stride_for(rows, examples::picture_rows);
    auto const across = examples::stride_for(columns, examples::picture_columns);
    auto const samples = u(ts::range(0, ts::none, down), ts::range(0, ts::none, across));
    report.picture(examples::draw_field(samples.to_host(), samples.extents()[1]));
  }
  auto const allowed = examples::Wave::rounding_of(options.steps);
  if (options.periodic)
    report.total("heat", heat_at_start, ts::sum(u), allowed);
  else
    report.total("heat", heat_at_start, ts::sum(u));
  auto const exact = filled_from(wave.after(options.steps));
  report.error(ts::max(ts::abs(u - exact)), allowed);
  report.time();
  report.bits(ts::hash(u));
  return report.exit_code();
}
