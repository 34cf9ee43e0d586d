#include "src/job/job.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/transport_job.hpp"
#include "support/transport_thread_job.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("job/job");

namespace {

/// Checks the job of one process against the devices of all.
void check_job(Job const& job, std::vector<std::int64_t> const& counts, std::int64_t self) {
  std::int64_t device = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    ProcessId const process(static_cast<std::int64_t>(i));
    if (process.value() == self) CHECK(job.first_local() == DeviceId(device));
    CHECK(job.first_device_of(process) == DeviceId(device));
    CHECK(job.devices_of(process) == counts[i]);
    for (std::int64_t k = 0; k < counts[i]; ++k, ++device) {
      CHECK(job.process_of(DeviceId(device)) == process);
      CHECK(job.is_local(DeviceId(device)) == (process.value() == self));
    }
  }
  CHECK(job.device_count() == device);
  CHECK(job.local_count() == counts[static_cast<std::size_t>(self)]);
  CHECK(job.most_local_count() == std::ranges::max(counts));
}

void check_counts(std::vector<std::int64_t> const& counts) {
  ThreadJob threads_job(static_cast<std::int64_t>(counts.size()));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < counts.size(); ++i)
    threads.emplace_back([&, i] {
      auto const self = static_cast<std::int64_t>(i);
      auto const bootstrap = threads_job.join(self);
      Job const job(*bootstrap, counts[i]);
      check_job(job, counts, self);
    });
}

/// The devices of a job, and those of a host.
using Hosts = std::pair<std::int64_t, std::int64_t>;

/// As the processes of a job know them, if they all agree; so many processes are on each host.
std::optional<Hosts> hosts_of(std::vector<std::int64_t> const& counts, std::int64_t per_host) {
  ThreadJob threads_job(static_cast<std::int64_t>(counts.size()), per_host);
  std::vector<Hosts> found(counts.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < counts.size(); ++i)
      threads.emplace_back([&, i] {
        auto const bootstrap = threads_job.join(static_cast<std::int64_t>(i));
        Job const job(*bootstrap, counts[i]);
        found[i] = {job.hosts().members, job.hosts().per_host};
      });
  }
  bool const agree = std::ranges::all_of(found, [&](Hosts const& h) { return h == found[0]; });
  return agree ? std::optional(found[0]) : std::nullopt;
}

}  // namespace

TEST_CASE("ids follow the ranks, also where processes drive different numbers of devices") {
  check_counts({1});
  check_counts({3});
  check_counts({1, 1, 1});
  check_counts({2, 2});
  check_counts({2, 1});
  check_counts({1, 4, 2, 3});
  check_counts({1, 0, 2, 0});
}

TEST_CASE("the hosts of devices are known where devices are equally many and in a row") {
  CHECK(hosts_of({2, 2, 2, 2}, 2) == Hosts{8, 4});
  CHECK(hosts_of({1, 3, 2, 2, 1}, 2) == Hosts{9, 4});
  CHECK(hosts_of({2, 2, 1}, 1) == Hosts{5, 2});
  CHECK(hosts_of({2, 2, 2}, 3) == Hosts{6, 6});
  CHECK(hosts_of({1, 2, 1}, 1) == Hosts{4, 4});
  CHECK(hosts_of({0, 0, 1, 1}, 2) == Hosts{2, 2});
}

TEST_CASE("numbers from outside are no devices of this process, however large or small") {
  ThreadJob threads_job(1);
  auto const bootstrap = threads_job.join(0);
  Job const job(*bootstrap, 3);
  using Limits = std::numeric_limits<std::int64_t>;

  CHECK_FALSE(job.is_local(DeviceId(Limits::min())));
  CHECK_FALSE(job.is_local(DeviceId(-1)));
  CHECK_FALSE(job.is_local(DeviceId(3)));
  CHECK_FALSE(job.is_local(DeviceId(Limits::max())));
}

TEST_CASE("the job of the launcher agrees, with even and uneven counts") {
  auto& bootstrap = job_bootstrap();
  auto const self = bootstrap.self().value();
  std::vector<std::int64_t> even, uneven;
  for (std::int64_t i = 0; i < bootstrap.process_count(); ++i) {
    even.push_back(2);
    uneven.push_back(i == 0 ? 2 : 1);
  }

  check_job(Job(bootstrap, 2), even, self);
  check_job(Job(bootstrap, self == 0 ? 2 : 1), uneven, self);
}

TEST_SUITE_END();
