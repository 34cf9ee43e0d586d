// heat_2d without Tessera: the same cells, the same bits, and every message by hand.
#include <cmath>

#include "support/hash.hpp"
#include "support/options.hpp"
#include "support/picture.hpp"
#include "support/report.hpp"
#include "support/wave.hpp"

#include "raw/heat_2d.hpp"
#include "raw/job.hpp"

namespace {

/// Calls visit(row, column, value) for the cells of this process, with global indices.
template <class Visit>
void visit_cells(raw::Heat2d const& u, Visit const& visit) {
  for (std::int64_t i = 0; i < u.rows().count; ++i)
    for (std::int64_t j = 0; j < u.columns().count; ++j)
      visit(u.rows().first + i, u.columns().first + j, u(i, j));
}

/// Every so many rows and columns one cell, whoever has it.
std::string picture_of(raw::Heat2d const& u, examples::Wave const& wave, raw::Job const& job) {
  auto const down = examples::stride_for(wave.extent(0), examples::picture_rows);
  auto const across = examples::stride_for(wave.extent(1), examples::picture_columns);
  auto const rows = (wave.extent(0) + down - 1) / down;
  auto const columns = (wave.extent(1) + across - 1) / across;
  std::vector<double> samples(static_cast<std::size_t>(rows * columns));
  visit_cells(u, [&](std::int64_t i, std::int64_t j, double value) {
    if (i % down == 0 && j % across == 0)
      samples[static_cast<std::size_t>(i / down * columns + j / across)] = value;
  });
  job.gather(samples);
  return examples::draw_field(samples, columns);
}

double heat_of(raw::Heat2d const& u, raw::Job const& job) {
  double heat = 0;
  visit_cells(u, [&](std::int64_t, std::int64_t, double value) { heat += value; });
  return job.sum(heat);
}

double error_of(raw::Heat2d const& u, examples::WaveAt const& exact, raw::Job const& job) {
  double error = 0;
  visit_cells(u, [&](std::int64_t i, std::int64_t j, double value) {
    error = std::max(error, std::abs(value - exact(i, j)));
  });
  return job.max(error);
}

std::uint64_t hash_of(raw::Heat2d const& u, std::int64_t width, raw::Job const& job) {
  std::uint64_t hash = 0;
  visit_cells(u, [&](std::int64_t i, std::int64_t j, double value) {
    hash += examples::hash_of_cell(i * width + j, value);
  });
  return job.sum(hash);
}

}  // namespace

int main(int argc, char** argv) {
  raw::Job const job(argc, argv);
  bool const speaks = job.rank() == 0;
  examples::Program const program{.name = "heat_2d_mpi",
                                  .description = "Heat in a plate, with MPI by hand",
                                  .defaults = {.cells = {2000, 2000}, .steps = 500},
                                  .workers = job.size()};
  auto const [options, leave] = examples::parse(argc, argv, program, speaks);
  if (leave) return *leave;
  examples::Report report(speaks);
  report.start(program, options, examples::counted(job.size(), "process"));

  constexpr double stay = 0.6, pass = 0.1;
  examples::Wave const wave(options.cells, options.periodic, stay, pass);
  std::array const processes{static_cast<int>(options.mesh[0]), static_cast<int>(options.mesh[1])};
  raw::Heat2d u({wave.extent(0), wave.extent(1)}, processes, options.periodic, stay, pass);
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

  if (options.picture) report.picture(picture_of(u, wave, job));
  auto const allowed = examples::Wave::rounding_of(options.steps);
  report.total("heat", heat_at_start, heat_of(u, job),  // which adds up in any order
               options.periodic ? allowed * 10 : examples::any_change);
  report.error(error_of(u, wave.after(options.steps), job), allowed);
  report.time();
  report.bits(hash_of(u, wave.extent(1), job));
  return report.exit_code();
}
