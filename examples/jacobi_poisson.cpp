// Poisson's equation by Jacobi's method: steps are taken until what is left of the equation is
// small, which is looked at now and then.
#include <cmath>

#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/report.hpp"
#include "support/run.hpp"
#include "support/show.hpp"
#include "support/wave.hpp"

namespace ts = tessera;

namespace {

void simulate(examples::Options const& options, examples::Report& report) {
  // 4 u - (the neighbours' sum) = source, which a wave solves that is a multiple of the source.
  examples::WaveAt const wave(options.cells, false);
  ts::Mesh mesh({{"y", options.mesh[0]}, {"x", options.mesh[1]}});
  ts::NamedSharding tiles(mesh, ts::P("y", "x"));
  auto const filled_from = [&](examples::WaveAt const& values) {
    return ts::from_index<double>({wave.extent(0), wave.extent(1)}, tiles,
                                  [&](auto i) { return values(i[0], i[1]); });
  };
  auto const source = filled_from(wave.times(-wave.laplacian()));
  auto u = ts::zeros<double>({wave.extent(0), wave.extent(1)}, tiles);

  auto const inner = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);
  auto const neighbours = [&] {
    return u(before, inner) + u(after, inner) + u(inner, before) + u(inner, after);
  };
  auto const step = [&] { u(inner, inner) = 0.25 * (neighbours() + source(inner, inner)); };
  auto const residual = [&]() -> double {
    return ts::norm(source(inner, inner) + neighbours() - 4.0 * u(inner, inner));
  };
  double const wanted = 1e-8 * residual();  // u is 0: of the source
  std::int64_t looks = 0;
  report.start_clock();
  auto const taken = ts::iterate_until(options.steps, step, ts::every(100), [&] {
    report.progress(++looks * 100);
    return residual() <= wanted;
  });
  ts::synchronize();
  report.stop_clock(taken);

  examples::show(u, options, report);
  report.small("residual", residual(), wanted);
  // Each step multiplies what the wave lacks by the same factor.
  auto const lacks = std::pow(1 + wave.laplacian() / 4, static_cast<long double>(taken));
  auto const allowed = examples::Wave::rounding_of(taken);
  report.error(ts::max(ts::abs(u - filled_from(wave.times(1 - lacks)))), allowed);
  report.time();
  report.bits(ts::hash(u));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  return examples::run(argc, argv,
                       {.name = "jacobi_poisson",
                        .description = "Poisson's equation in a plane, step by step; "
                                       "--steps is the most it may take",
                        .defaults = {.cells = {300, 300}, .steps = 100'000},
                        .chooses_ends = false,
                        .writes_png = true},
                       simulate);
}
