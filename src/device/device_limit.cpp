#include "src/device/device_limit.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/file_bytes.hpp"
#include "src/base/text.hpp"
#include "src/device/cores.hpp"

namespace tessera {
namespace {

using std::filesystem::path;

/// The first word of a text as a number; nothing for "max" and for what a limit cannot be.
std::optional<std::int64_t> first_number(std::string_view words) {
  auto const word = take_word(words);
  std::int64_t number = 0;
  auto const [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || stop == word.data()) return std::nullopt;
  return number;
}

/// "1/140": how many threads the system has, from the fourth word of /proc/loadavg.
std::int64_t threads_of(std::string_view loadavg) {
  for (int word = 0; word < 3; ++word) (void)take_word(loadavg);
  auto const running = take_word(loadavg);
  return first_number(running.substr(std::min(running.size(), running.find('/') + 1))).value_or(0);
}

void add(std::vector<Room>& rooms, Resource resource, std::string_view name,
         std::optional<std::int64_t> limit, std::int64_t used) {
  if (!limit) return;
  constexpr std::int64_t most = std::int64_t{1} << 62;  // `used` may be negative
  rooms.push_back({resource, std::max<std::int64_t>(0, std::min(*limit, most) - used),
                   text(name, " is ", *limit)});
}

struct GroupFiles {
  Resource resource;
  char const* mount;  ///< below /sys/fs/cgroup
  char const* controller;
  char const* limit;
  char const* used;
};

constexpr GroupFiles threads_of_groups[] = {
    {Resource::threads, "", "", "pids.max", "pids.current"},
    {Resource::threads, "unified", "", "pids.max", "pids.current"},
    {Resource::threads, "pids", "pids", "pids.max", "pids.current"},
};
constexpr GroupFiles memory_of_groups[] = {
    {Resource::memory, "", "", "memory.max", "memory.current"},
    {Resource::memory, "unified", "", "memory.max", "memory.current"},
    {Resource::memory, "memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
};

// Bytes of a control group that the system takes back when they are needed: pages of files.
std::int64_t reclaimable(path const& folder) {
  auto const statistics = bytes_if_readable(folder / "memory.stat");
  auto const bytes = [&](std::string_view name) {
    auto const place = text('\n', statistics).find(text('\n', name, ' '));
    if (place == std::string::npos) return std::int64_t{0};
    return first_number(std::string_view(statistics).substr(place + name.size())).value_or(0);
  };
  auto const of_children = bytes("total_active_file") + bytes("total_inactive_file");
  return of_children > 0 ? of_children : bytes("active_file") + bytes("inactive_file");
}

/// Of the group's folder and of all around it; those that a container does not show have no limit.
void add_groups(std::vector<Room>& rooms, path const& root, GroupFiles const& files,
                std::int64_t swap = 0) {
  auto const group =
      detail::control_group(bytes_if_readable(root / "proc/self/cgroup"), files.controller);
  if (!group) return;
  auto folder = root / "sys/fs/cgroup" / files.mount;
  bool const is_memory = files.resource == Resource::memory;
  auto const look = [&] {
    auto const limit = first_number(bytes_if_readable(folder / files.limit));
    if (!limit) return;
    auto const used = first_number(bytes_if_readable(folder / files.used)).value_or(0);
    add(rooms, files.resource, text("a control group's ", files.limit), limit,
        is_memory ? used - reclaimable(folder) - swap : used);
  };
  look();
  for (auto const& part : path(*group).relative_path()) {
    folder /= part;
    look();
  }
}

/// The soft limit; nothing if there is none.
std::optional<std::int64_t> resource_limit(int resource) {
  rlimit limit{};
  // The name of the kind of resource is an enumeration in GNU's C++, and a number elsewhere.
  if (::getrlimit(static_cast<decltype(RLIMIT_AS)>(resource), &limit) != 0) return std::nullopt;
  constexpr auto most = static_cast<rlim_t>(std::numeric_limits<std::int64_t>::max());
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most) return std::nullopt;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::int64_t open_descriptors() {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error))
    ++count;
  return count;
}

bool is_shared(Resource resource) {
  return resource == Resource::threads || resource == Resource::memory;
}

std::int64_t need(DeviceNeeds const& needs, Resource resource) {
  switch (resource) {
    case Resource::threads:
      return needs.threads;
    case Resource::mappings:
      return needs.threads * DeviceNeeds::mappings_of_thread;
    case Resource::memory:
      return DeviceNeeds::memory_bytes;
    case Resource::address_space:
      return DeviceNeeds::memory_bytes + needs.threads * needs.stack_bytes;
    case Resource::descriptors:
      return needs.descriptors;
  }
  return 0;
}

}  // namespace

std::int64_t detail::number_of(std::string_view file, std::string_view name) {
  auto const line = text('\n', name, ':');
  auto const first = std::string_view(line).substr(1);
  if (file.starts_with(first)) return first_number(file.substr(first.size())).value_or(0);
  auto const place = file.find(line);
  if (place == std::string_view::npos) return 0;
  return first_number(file.substr(place + line.size())).value_or(0);
}

std::vector<Room> detail::rooms_under(path const& root) {
  std::vector<Room> rooms;
  auto const threads = threads_of(bytes_if_readable(root / "proc/loadavg"));
  for (auto const* name : {"threads-max", "pid_max"})
    add(rooms, Resource::threads, text("/proc/sys/kernel/", name),
        first_number(bytes_if_readable(root / "proc/sys/kernel" / name)), threads);
  auto const maps = bytes_if_readable(root / "proc/self/maps");
  add(rooms, Resource::mappings, "/proc/sys/vm/max_map_count",
      first_number(bytes_if_readable(root / "proc/sys/vm/max_map_count")),
      std::count(maps.begin(), maps.end(), '\n'));
  for (auto const& files : threads_of_groups) add_groups(rooms, root, files);
  auto const memory = memory_rooms_under(root);
  rooms.insert(rooms.end(), memory.begin(), memory.end());
  return rooms;
}

std::vector<Room> detail::memory_rooms_under(path const& root) {
  std::vector<Room> rooms;
  auto const memory = bytes_if_readable(root / "proc/meminfo");
  auto const kib = number_of(memory, "MemAvailable");
  auto const swap = number_of(memory, "SwapFree") << 10;
  if (kib > 0)
    rooms.push_back({Resource::memory, (kib << 10) + swap,
                     text("the available memory is ", kib >> 10, " MiB")});
  for (auto const& files : memory_of_groups) add_groups(rooms, root, files, swap);
  return rooms;
}

std::optional<Room> lacking_host_memory(std::int64_t size_bytes) {
  for (auto const& room : detail::memory_rooms_under("/"))
    if (size_bytes > room.left) return room;
  return std::nullopt;
}

void check_host_memory(std::int64_t size_bytes) {
  if (auto const room = lacking_host_memory(size_bytes))
    throw DeviceError(text("the host devices of a process cannot have ", bytes_text(size_bytes),
                           " of memory together: ", room->limit, ", of which ",
                           bytes_text(room->left), " is left; use smaller arrays or more hosts"));
}

std::vector<Room> rooms_of_this_process() {
  auto rooms = detail::rooms_under("/");
  auto const status = bytes_if_readable("/proc/self/status");
  if (::geteuid() != 0)  // the system makes no exception for others
    add(rooms, Resource::threads, "RLIMIT_NPROC (ulimit -u)", resource_limit(RLIMIT_NPROC),
        detail::number_of(status, "Threads"));
  add(rooms, Resource::address_space, "RLIMIT_AS (ulimit -v, in bytes)", resource_limit(RLIMIT_AS),
      detail::number_of(status, "VmSize") << 10);
  add(rooms, Resource::descriptors, "RLIMIT_NOFILE (ulimit -n)", resource_limit(RLIMIT_NOFILE),
      open_descriptors());
  return rooms;
}

std::int64_t bytes_of_a_stack() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (::pthread_attr_init(&attributes) != 0) return 0;
  (void)::pthread_attr_getstacksize(&attributes, &bytes);
  (void)::pthread_attr_destroy(&attributes);
  return static_cast<std::int64_t>(bytes);
}

DeviceLimit device_limit(std::vector<Room> const& rooms, DeviceNeeds const& needs,
                         std::int64_t processes_of_host) {
  DeviceLimit least{std::numeric_limits<std::int64_t>::max(), ""};
  for (auto const& room : rooms) {
    auto const each = need(needs, room.resource);
    if (each == 0) continue;
    auto const count = room.left / each / (is_shared(room.resource) ? processes_of_host : 1);
    if (count < least.count) least = {count, room.limit};
  }
  return least;
}

}  // namespace tessera
