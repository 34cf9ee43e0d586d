/// @file
/// The main function of test programs that need devices: alone with eight of them, or as every
/// process of mpirun. All processes run all tests; process 0 prints, and one failure fails them
/// all.

#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <doctest/doctest.h>

#include "tessera/base/environment.hpp"
#include "tessera/exchange/runtime.hpp"
#include "tessera/transport/bootstrap.hpp"

#include "support/agree.hpp"

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
  if (tessera::process().value() != 0) context.setCout(&quiet);

  bool const passed = context.run() == 0;
  if (!passed && tessera::process().value() != 0) std::cout << quiet.str() << std::flush;
  return tessera::test::agree(passed) ? 0 : 1;
}
