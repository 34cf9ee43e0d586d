#include "src/job/host_cores.hpp"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/transport_thread_job.hpp"

using namespace tessera;
using namespace tessera::test;

/// Once is enough: not in every process of a spread.
TEST_SUITE_BEGIN("job/host_cores" * doctest::skip(launched_by_mpi()));

namespace {

/// A process of a host, and the devices it drives.
struct Process {
  std::int64_t devices;
  ProcessCores cores;
};

/// May run on the cores from `first` on, so many of them.
ProcessCores cores_from(std::int64_t first, std::int64_t count) {
  ProcessCores cores;
  for (auto core = first; core < first + count; ++core)
    cores.mask[static_cast<std::size_t>(core / 64)] |= std::uint64_t{1} << (core % 64);
  cores.usable = count;
  return cores;
}
ProcessCores with_quota(ProcessCores cores, std::int64_t quota) {
  cores.usable = quota;
  return cores;
}

/// What all processes of one host find alike.
bool have_cores(std::vector<Process> const& processes) {
  ThreadJob job(std::ssize(processes));
  std::vector<char> found(processes.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < processes.size(); ++i)
      threads.emplace_back([&, i] {
        auto const bootstrap = job.join(static_cast<std::int64_t>(i));
        auto const& [devices, cores] = processes[i];
        found[i] = every_thread_has_a_core(*bootstrap, devices, cores) ? 1 : 0;
      });
  }
  for (auto const one : found) CHECK(one == found.front());
  return found.front() != 0;
}

}  // namespace

TEST_CASE("a process of one device is one thread, one of several has a caller too") {
  CHECK(have_cores({{1, cores_from(0, 1)}}));
  CHECK(have_cores({{2, cores_from(0, 3)}}));
  CHECK_FALSE(have_cores({{2, cores_from(0, 2)}}));
}

TEST_CASE("processes that may run on the same cores share them") {
  CHECK(have_cores({{1, cores_from(0, 2)}, {1, cores_from(0, 2)}}));
  CHECK_FALSE(have_cores({{1, cores_from(0, 1)}, {1, cores_from(0, 1)}}));
}

TEST_CASE("processes that are bound to cores of their own have those together") {
  CHECK(have_cores({{1, cores_from(0, 1)}, {1, cores_from(64, 1)}}));
  CHECK_FALSE(have_cores({{1, cores_from(0, 1)}, {2, cores_from(64, 2)}}));
}

TEST_CASE("a quota below the mask is that of the whole job") {
  auto const two_of_eight = with_quota(cores_from(0, 8), 2);
  CHECK(have_cores({{1, two_of_eight}, {1, two_of_eight}}));
  CHECK_FALSE(have_cores({{1, two_of_eight}, {1, two_of_eight}, {1, two_of_eight}}));
}

TEST_CASE("this process finds cores that it may run on") {
  auto const cores = process_cores();
  CHECK(cores.usable >= 1);
}

TEST_SUITE_END();
