#pragma once
/// @file
/// How many devices the limits of this process and its system allow.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// What devices use up.
enum class Resource : std::uint8_t { threads, mappings, memory, address_space, descriptors };

/// What a limit leaves to this process, or to all processes of the host.
struct Room {
  Resource resource = Resource::threads;
  std::int64_t left = 0;  ///< threads, mappings, bytes or descriptors
  std::string limit;      ///< for people: "/proc/sys/kernel/pid_max is 32768"
};

/// What one device needs, on average.
struct DeviceNeeds {
  std::int64_t threads = 1;
  std::int64_t stack_bytes = 0;  ///< of each thread
  std::int64_t descriptors = 0;
  /// Tasks that wait for the device's thread, and the pages of its stack that are used.
  static constexpr std::int64_t memory_bytes = std::int64_t{768} << 10;
  /// The stack and the guard page in front of it.
  static constexpr std::int64_t mappings_of_thread = 2;
};

/// The most devices, and the limit that says so.
struct DeviceLimit {
  std::int64_t count = 0;
  std::string limit;
};

/// The least that any of the rooms allows. Processes of the host share threads and memory.
[[nodiscard]] DeviceLimit device_limit(std::vector<Room> const& rooms, DeviceNeeds const& needs,
                                       std::int64_t processes_of_host);

/// The rooms of this process: of its resource limits (RLIMIT_NPROC, RLIMIT_AS, RLIMIT_NOFILE), of
/// the system (threads-max, pid_max, max_map_count, available memory), and of its control groups
/// (pids.max, memory.max and their names in version 1). What the system does not say is left out.
/// Ranks: local. Cost: reads some small files; call it once.
[[nodiscard]] std::vector<Room> rooms_of_this_process();

/// Arrays of fewer bytes on a process are made without a look at the memory that is left.
inline constexpr std::int64_t least_large_bytes = std::int64_t{256} << 20;
/// Whether this process's host has less memory left than so many bytes, and what limits it; nothing
/// if there is enough. The system promises more memory than there is, and kills the process that
/// uses it. Cost: reads some small files.
[[nodiscard]] std::optional<Room> lacking_host_memory(std::int64_t size_bytes);

/// Throws: DeviceError where so many bytes are lacking.
void check_host_memory(std::int64_t size_bytes);

/// The size of the stacks of new threads, in bytes.
[[nodiscard]] std::int64_t bytes_of_a_stack();

namespace detail {

/// The number behind "name:" in a file as /proc/self/status and /proc/meminfo are; 0 if there is
/// none.
[[nodiscard]] std::int64_t number_of(std::string_view file, std::string_view name);

/// The rooms of the system and of the control groups, as the files under `root` say.
[[nodiscard]] std::vector<Room> rooms_under(std::filesystem::path const& root);
/// Those of memory. Swap counts as free, and in a control group so do the pages of files.
[[nodiscard]] std::vector<Room> memory_rooms_under(std::filesystem::path const& root);

}  // namespace detail
}  // namespace tessera
