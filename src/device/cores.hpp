#pragma once
/// @file
/// How many cores this process may use.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The cores of the affinity mask, but no more than the control group's CPU quota, rounded up; at
/// least 1. The quotas of all enclosing groups count, of cgroup v2 (cpu.max) and v1
/// (cpu.cfs_quota_us). Ranks: local. Cost: reads a few small files; call it once.
[[nodiscard]] std::int64_t available_cores();

/// What `available_cores` is made of.
struct CoreFacts {
  std::vector<std::int64_t> mask;  ///< the numbers of the cores of the affinity mask, upwards
  std::optional<std::int64_t>
      quota;  ///< of the control groups, in cores; none if there is no limit
};
/// Ranks: local. Cost: as available_cores.
[[nodiscard]] CoreFacts core_facts();

namespace detail {

/// The cores of a quota written as cpu.max is: "150000 100000" is 2, "max 100000" none. A quota
/// that is not positive (v1 writes -1) or cannot be read is none.
[[nodiscard]] std::optional<std::int64_t> quota_cores(std::string_view quota_and_period);

/// The group's path in the text of /proc/self/cgroup: of the line "0::path" if `controller` is
/// empty (v2), else of the line that lists the controller, as "4:cpu,cpuacct:path".
[[nodiscard]] std::optional<std::string> control_group(std::string_view proc_self_cgroup,
                                                       std::string_view controller);

/// The least quota of a process's groups and those around them, under the folder where the system
/// shows its control groups (/sys/fs/cgroup).
[[nodiscard]] std::optional<std::int64_t> quota_cores_under(std::filesystem::path const& root,
                                                            std::string_view proc_self_cgroup);

}  // namespace detail
}  // namespace tessera
