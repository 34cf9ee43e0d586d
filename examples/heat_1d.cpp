// Heat in a rod that is cut over every device of the job: no line here sends anything.
#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/picture.hpp"
#include "support/report.hpp"
#include "support/run.hpp"
#include "support/wave.hpp"

namespace ts = tessera;

namespace {

void simulate(examples::Options const& options, examples::Report& report) {
  constexpr double stay = 0.8, pass = 0.1;
  examples::Wave const wave(options.cells, options.periodic, stay, pass);
  auto const cells = wave.extent(0);

  ts::Mesh mesh({{"x", ts::device_count()}});
  ts::NamedSharding pieces(mesh, ts::P("x"));
  auto u = ts::from_index<double>({cells}, pieces, [&](auto i) { return wave.start()(i[0]); });
  double const heat_at_start = ts::sum(u);

  auto const inner = ts::range(1, -1), left = ts::range(0, -2), right = ts::from(2);
  auto const step = [&] {
    if (options.periodic)
      u = stay * u + pass * ts::roll(u, 1) + pass * ts::roll(u, -1);
    else
      u(inner) = stay * u(inner) + pass * u(left) + pass * u(right);
  };
  report.start_clock();
  ts::iterate(options.steps, step, ts::every(examples::steps_between_looks),
              [&](std::int64_t done) { report.progress(done); });
  ts::synchronize();
  report.stop_clock();

  if (options.picture) {
    auto const apart = examples::stride_for(cells, examples::picture_columns);
    auto const samples = u(ts::range(0, ts::none, apart));
    report.picture(examples::draw_profile(samples.to_host()));
  }
  auto const allowed = examples::Wave::rounding_of(options.steps);
  report.total("heat", heat_at_start, ts::sum(u),
               options.periodic ? allowed : examples::any_change);
  auto const end = wave.after(options.steps);
  auto const exact = ts::from_index<double>({cells}, pieces, [&](auto i) { return end(i[0]); });
  report.error(ts::max(ts::abs(u - exact)), allowed);
  report.time();
  report.bits(ts::hash(u));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  return examples::run(argc, argv,
                       {.name = "heat_1d",
                        .description = "Heat in a rod, by slices or by roll",
                        .defaults = {.cells = {4'000'000}, .steps = 500}},
                       simulate);
}
