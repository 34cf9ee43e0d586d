#include "host_cores.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include <sched.h>

#include "tessera/device/cores.hpp"

namespace tessera {
namespace {

using Mask = std::array<std::uint64_t, CPU_SETSIZE / 64>;

/// Empty if the system has more cores than fit.
Mask own_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  Mask mask{};
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return mask;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) mask[core / 64] |= std::uint64_t{1} << (core % 64);
  return mask;
}

std::int64_t count(Mask const& mask) {
  return std::accumulate(mask.begin(), mask.end(), std::int64_t{0},
                         [](auto sum, auto word) { return sum + std::popcount(word); });
}

/// The cores that any process of the host may use.
std::int64_t cores_of_host(Bootstrap& bootstrap) {
  auto all = own_mask();
  for (auto& word : all)
    for (auto const other : bootstrap.host_values(static_cast<std::int64_t>(word)))
      word |= static_cast<std::uint64_t>(other);
  return count(all);
}

}  // namespace

bool every_thread_has_a_core(Bootstrap& bootstrap, std::int64_t local_devices) {
  auto const own_threads = local_devices == 1 ? 1 : local_devices + 1;
  auto const threads_by_process = bootstrap.host_values(own_threads);
  auto const threads =
      std::accumulate(threads_by_process.begin(), threads_by_process.end(), std::int64_t{0});
  auto const cores = cores_of_host(bootstrap);

  // A quota below the mask is taken to be that of the whole job.
  auto const own_cores = available_cores();
  bool const has_quota = own_cores < count(own_mask());
  bool const enough = own_threads <= own_cores && threads <= (has_quota ? own_cores : cores);
  auto const answers = bootstrap.host_values(enough ? 1 : 0);
  return *std::min_element(answers.begin(), answers.end()) == 1;
}

}  // namespace tessera
