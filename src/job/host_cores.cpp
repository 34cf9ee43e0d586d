#include "src/job/host_cores.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>

#include <sched.h>

#include "src/device/cores.hpp"

namespace tessera {
namespace {

using Mask = decltype(ProcessCores::mask);

std::int64_t count(Mask const& mask) {
  return std::accumulate(mask.begin(), mask.end(), std::int64_t{0},
                         [](auto sum, auto word) { return sum + std::popcount(word); });
}

}  // namespace

ProcessCores process_cores() {
  ProcessCores found;
  found.usable = available_cores();
  cpu_set_t set;
  CPU_ZERO(&set);
  static_assert(CPU_SETSIZE == 64 * std::tuple_size_v<Mask>);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return found;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) found.mask[core / 64] |= std::uint64_t{1} << (core % 64);
  return found;
}

bool every_thread_has_a_core(Bootstrap& bootstrap, std::int64_t local_devices,
                             ProcessCores const& own) {
  auto const own_threads = local_devices == 1 ? 1 : local_devices + 1;
  auto threads = own_threads;
  bootstrap.sum_over_host({&threads, 1});

  // What any process of the host may use, and behind it what any of them finds. A quota below the
  // mask is taken to be that of the whole job.
  constexpr std::int64_t lacks_cores = 1, has_no_quota = 2, nothing = 0;
  bool const has_quota = own.usable < count(own.mask);
  bool const lacks = own_threads > own.usable || (has_quota && threads > own.usable);
  std::array<std::int64_t, std::tuple_size_v<Mask> + 1> any{};
  std::transform(own.mask.begin(), own.mask.end(), any.begin(),
                 [](auto word) { return static_cast<std::int64_t>(word); });
  any.back() = (lacks ? lacks_cores : nothing) | (has_quota ? nothing : has_no_quota);
  bootstrap.or_over_host(any);

  Mask mask{};
  std::transform(any.begin(), any.end() - 1, mask.begin(),
                 [](auto word) { return static_cast<std::uint64_t>(word); });
  bool const mask_is_too_small = (any.back() & has_no_quota) != 0 && threads > count(mask);
  return (any.back() & lacks_cores) == 0 && !mask_is_too_small;
}

}  // namespace tessera
