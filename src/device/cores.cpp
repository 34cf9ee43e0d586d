#include "src/device/cores.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>

#include <sched.h>

#include "src/base/file_bytes.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace detail {
namespace {

std::optional<std::int64_t> positive_number(std::string_view word) {
  std::int64_t number = 0;
  auto const* end = word.data() + word.size();
  auto const [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc{} || stop != end || number <= 0) return std::nullopt;
  return number;
}

/// Whether `controllers`, a list with commas, names `controller`.
bool lists(std::string_view controllers, std::string_view controller) {
  while (!controllers.empty()) {
    auto const item = controllers.substr(0, controllers.find(','));
    if (item == controller) return true;
    controllers.remove_prefix(std::min(item.size() + 1, controllers.size()));
  }
  return controller.empty();  // the line of cgroup v2 lists none
}

std::optional<std::int64_t> least(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

/// Calls `quota(folder)` for the group's folder and all its parents up to `mount`, and returns the
/// smallest quota. In a container the group's own path need not exist below the mount: missing
/// folders have no quota.
template <class Quota>
std::optional<std::int64_t> least_upwards(std::filesystem::path const& mount,
                                          std::string const& group, Quota const& quota) {
  auto cores = quota(mount);
  auto folder = mount;
  for (auto const& part : std::filesystem::path(group).relative_path()) {
    folder /= part;
    cores = least(cores, quota(folder));
  }
  return cores;
}

std::optional<std::int64_t> quota_of_version_2(std::filesystem::path const& folder) {
  return quota_cores(bytes_if_readable(folder / "cpu.max"));
}

std::optional<std::int64_t> quota_of_version_1(std::filesystem::path const& folder) {
  return quota_cores(bytes_if_readable(folder / "cpu.cfs_quota_us") + ' ' +
                     bytes_if_readable(folder / "cpu.cfs_period_us"));
}

}  // namespace

std::optional<std::int64_t> quota_cores(std::string_view quota_and_period) {
  auto const quota = positive_number(take_word(quota_and_period));
  auto const period = positive_number(take_word(quota_and_period));
  if (!quota || !period) return std::nullopt;
  return (*quota - 1) / *period + 1;
}

std::optional<std::string> control_group(std::string_view proc_self_cgroup,
                                         std::string_view controller) {
  for (auto rest = proc_self_cgroup; !rest.empty();) {
    auto const line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    auto const first = line.find(':');
    auto const second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    auto const names = line.substr(first + 1, second - first - 1);
    if (names.empty() == controller.empty() && lists(names, controller))
      return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

std::optional<std::int64_t> quota_cores_under(std::filesystem::path const& root,
                                              std::string_view proc_self_cgroup) {
  std::optional<std::int64_t> cores;
  if (auto const group = control_group(proc_self_cgroup, ""))
    for (auto const* mount : {"", "unified"})  // beside v1, v2 is mounted in a folder of its own
      cores = least(cores, least_upwards(root / mount, *group, quota_of_version_2));
  if (auto const group = control_group(proc_self_cgroup, "cpu"))
    for (auto const* mount : {"cpu", "cpu,cpuacct"})
      cores = least(cores, least_upwards(root / mount, *group, quota_of_version_1));
  return cores;
}

}  // namespace detail

namespace {

/// The cores this thread may run on; none if the system does not say.
std::vector<std::int64_t> affinity_cores() {
  // The kernel requires a mask as long as its own, whose length is not published: try longer ones.
  for (int cores = CPU_SETSIZE; cores <= (1 << 20); cores *= 2) {
    auto const size = CPU_ALLOC_SIZE(static_cast<std::size_t>(cores));
    std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> const mask(
        CPU_ALLOC(static_cast<std::size_t>(cores)), [](cpu_set_t* set) { CPU_FREE(set); });
    if (!mask || ::sched_getaffinity(0, size, mask.get()) != 0) continue;
    std::vector<std::int64_t> found;
    for (int core = 0; core < cores; ++core)
      if (CPU_ISSET_S(static_cast<std::size_t>(core), size, mask.get())) found.push_back(core);
    return found;
  }
  return {};
}

}  // namespace

CoreFacts core_facts() {
  return {affinity_cores(),
          detail::quota_cores_under("/sys/fs/cgroup", bytes_if_readable("/proc/self/cgroup"))};
}

std::int64_t available_cores() {
  auto const facts = core_facts();
  auto const in_mask = std::max<std::int64_t>(1, std::ssize(facts.mask));
  return std::max<std::int64_t>(1, std::min(in_mask, facts.quota.value_or(in_mask)));
}

}  // namespace tessera
