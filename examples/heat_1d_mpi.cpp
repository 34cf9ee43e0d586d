// heat_1d without Tessera: the same cells, the same bits, and every message by hand.
#include <cmath>

#include "support/hash.hpp"
#include "support/options.hpp"
#include "support/picture.hpp"
#include "support/report.hpp"
#include "support/wave.hpp"

#include "raw/heat_1d.hpp"
#include "raw/job.hpp"

namespace {

/// Every so many cells one, whoever has it.
std::vector<double> samples_of(raw::Heat1d const& u, std::int64_t cells, raw::Job const& job) {
  auto const apart = examples::stride_for(cells, examples::picture_columns);
  std::vector<double> samples(static_cast<std::size_t>((cells + apart - 1) / apart));
  for (std::int64_t i = 0; i < u.count(); ++i)
    if ((u.first() + i) % apart == 0)
      samples[static_cast<std::size_t>((u.first() + i) / apart)] = u[i];
  job.gather(samples);
  return samples;
}

double heat_of(raw::Heat1d const& u, raw::Job const& job) {
  double heat = 0;
  for (std::int64_t i = 0; i < u.count(); ++i) heat += u[i];
  return job.sum(heat);
}

double error_of(raw::Heat1d const& u, examples::WaveAt const& exact, raw::Job const& job) {
  double error = 0;
  for (std::int64_t i = 0; i < u.count(); ++i)
    error = std::max(error, std::abs(u[i] - exact(u.first() + i)));
  return job.max(error);
}

std::uint64_t hash_of(raw::Heat1d const& u, raw::Job const& job) {
  std::uint64_t hash = 0;
  for (std::int64_t i = 0; i < u.count(); ++i) hash += examples::hash_of_cell(u.first() + i, u[i]);
  return job.sum(hash);
}

}  // namespace

int main(int argc, char** argv) {
  raw::Job const job(argc, argv);
  bool const speaks = job.rank() == 0;
  examples::Program const program{.name = "heat_1d_mpi",
                                  .description = "Heat in a rod, with MPI by hand",
                                  .defaults = {.cells = {4'000'000}, .steps = 500},
                                  .workers = job.size()};
  auto const [options, leave] = examples::parse(argc, argv, program, speaks);
  if (leave) return *leave;
  examples::Report report(speaks);
  report.start(program, options, examples::counted(job.size(), "process"));

  constexpr double stay = 0.8, pass = 0.1;
  examples::Wave const wave(options.cells, options.periodic, stay, pass);
  raw::Heat1d u(wave.extent(0), options.periodic, stay, pass);
  u.fill(wave.start());
  auto const heat_at_start = heat_of(u, job);

  job.wait_for_all();
  report.start_clock();
  for (std::int64_t step = 0; step < options.steps; ++step) {
    u.step();
    report.progress(step);
  }
  job.wait_for_all();
  report.stop_clock();

  if (options.picture) report.picture(examples::draw_profile(samples_of(u, wave.extent(0), job)));
  auto const allowed = examples::Wave::rounding_of(options.steps);
  report.total("heat", heat_at_start, heat_of(u, job),  // which adds up in any order
               options.periodic ? allowed * 10 : examples::any_change);
  report.error(error_of(u, wave.after(options.steps), job), allowed);
  report.time();
  report.bits(hash_of(u, job));
  return report.exit_code();
}
