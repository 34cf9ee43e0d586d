/// @file
/// The main function of the transport's tests: alone, or every process of mpirun runs all of them.

#define DOCTEST_CONFIG_IMPLEMENT
#include <iostream>

#include <doctest/doctest.h>

#include "src/base/log.hpp"

#include "support/run_cases.hpp"
#include "support/transport_job.hpp"

int main(int argc, char** argv) {
  auto const bootstrap = tessera::launched_by_mpi() ? tessera::make_mpi_bootstrap(argc, argv)
                                                    : tessera::make_single_bootstrap();
  if (bootstrap->process_count() > 1) tessera::set_log_process(bootstrap->self());
  tessera::test::set_job_bootstrap(*bootstrap);

  doctest::Context context(argc, argv);
  auto const result =
      tessera::test::run_cases(context, {argc, argv, bootstrap->process_count()}, std::cout);
  // The others may be in the middle of a test that this process has left.
  if (result != 0) bootstrap->abort_job();
  bootstrap->finalize();
  return result;
}
