#pragma once
/// @file
/// What the examples do around their simulation.

#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/report.hpp"

namespace examples {

/// Reads the command line, for a mesh of all devices of the job, calls `simulate(options, report)`,
/// and returns the program's exit code. Process 0 speaks.
/// Ranks: collective.
template <class Simulate>
[[nodiscard]] int run(int argc, char** argv, Program program, Simulate const& simulate) {
  program.workers = tessera::device_count();
  bool const speaks = tessera::process() == tessera::ProcessId{0};
  auto const [options, leave] = parse(argc, argv, program, speaks);
  if (leave) return *leave;
  Report report(speaks);
  report.start(program, options, counted(program.workers, "device"));
  simulate(options, report);
  return report.exit_code();
}

}  // namespace examples
