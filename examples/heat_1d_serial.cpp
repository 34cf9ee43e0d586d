// heat_1d as one plain loop on one core: what all the others have to equal, bit by bit.
#include <utility>
#include <vector>

#include "support/hash.hpp"
#include "support/options.hpp"
#include "support/report.hpp"
#include "support/wave.hpp"

int main(int argc, char** argv) {
  examples::Program const program{.name = "heat_1d_serial",
                                  .description = "Heat in a rod, on one core",
                                  .defaults = {.cells = {4'000'000}, .steps = 500}};
  auto const [options, leave] = examples::parse(argc, argv, program, true);
  if (leave) return *leave;
  examples::Report report(true);
  report.start(program, options, "1 core");

  constexpr double stay = 0.8, pass = 0.1;
  examples::Wave const wave(options.cells, options.periodic, stay, pass);
  auto const n = static_cast<std::size_t>(wave.extent(0));
  std::vector<double> now(n);
  for (std::size_t i = 0; i < n; ++i) now[i] = wave.start()(static_cast<std::int64_t>(i));
  auto next = now;

  report.start_clock();
  for (std::int64_t step = 0; step < options.steps; ++step) {
    for (std::size_t i = 1; i + 1 < n; ++i)
      next[i] = stay * now[i] + pass * now[i - 1] + pass * now[i + 1];
    if (options.periodic) {
      next[0] = stay * now[0] + pass * now[n - 1] + pass * now[n > 1 ? 1 : 0];
      next[n - 1] = stay * now[n - 1] + pass * now[n > 1 ? n - 2 : 0] + pass * now[0];
    }
    std::swap(now, next);
    report.progress(step);
  }
  report.stop_clock();

  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < n; ++i)
    hash += examples::hash_of_cell(static_cast<std::int64_t>(i), now[i]);
  report.time();
  report.bits(hash);
  return report.exit_code();
}
