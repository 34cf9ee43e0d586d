/// @file
/// The main function of test programs that need devices: alone with eight of them, or as every
/// process of mpirun. All processes run all tests; process 0 prints, and one failure fails them
/// all.

#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <doctest/doctest.h>

#include "tessera/runtime/runtime.hpp"

#include "src/base/environment.hpp"
#include "src/job/bootstrap.hpp"

#include "support/agree.hpp"
#include "support/run_cases.hpp"

namespace {

tessera::RuntimeOptions eight_devices_if_alone() {
  tessera::RuntimeOptions options;
  if (!tessera::launched_by_mpi() && !tessera::environment("TESSERA_DEVICES")) options.devices = 8;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  // GPUs where they are asked for, not where there happen to be some: see support/device_kinds.hpp.
  ::setenv("TESSERA_DEVICE", "host", 0);
  tessera::Runtime const runtime(argc, argv, eight_devices_if_alone());
  std::ostringstream quiet;
  doctest::Context context(argc, argv);
  bool const is_quiet = tessera::process().value() != 0;
  if (is_quiet) context.setCout(&quiet);

  std::ostream& out = is_quiet ? static_cast<std::ostream&>(quiet) : std::cout;
  tessera::test::CaseRun const run{argc, argv, tessera::process_count()};
  bool const passed = tessera::test::run_cases(context, run, out) == 0;
  if (!passed && is_quiet) std::cout << quiet.str() << std::flush;
  return tessera::test::agree(passed) ? 0 : 1;
}
