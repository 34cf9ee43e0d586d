#include "src/device/device_limit.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace tessera;

TEST_SUITE_BEGIN("device/device_limit");

namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

/// A folder like the root of a system.
class Root {
 public:
  Root()
      : path_(std::filesystem::temp_directory_path() /
              ("tessera_device_limit_test_" + std::to_string(::getpid()))) {}
  ~Root() { std::filesystem::remove_all(path_); }
  Root(Root const&) = delete;
  Root& operator=(Root const&) = delete;

  void write(std::string const& file, std::string const& content) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << content;
  }
  [[nodiscard]] std::filesystem::path const& path() const { return path_; }
  [[nodiscard]] DeviceLimit limit() const {
    return device_limit(detail::rooms_under(path_), {}, 1);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("the resource that is used up first decides") {
  std::vector<Room> const rooms{{Resource::threads, 900, "threads"},
                                {Resource::mappings, 1000, "mappings"},
                                {Resource::memory, 600 * mib, "memory"},
                                {Resource::address_space, 3000 * mib, "address space"},
                                {Resource::descriptors, 300, "descriptors"}};

  CHECK(device_limit(rooms, {}, 1).limit == "mappings");
  CHECK(device_limit(rooms, {}, 1).count == 500);
  CHECK(device_limit(rooms, {.threads = 2}, 1).count == 250);
  CHECK(device_limit(rooms, {.stack_bytes = 8 * mib}, 1).limit == "address space");
  CHECK(device_limit(rooms, {.descriptors = 1}, 1).count == 300);
}

TEST_CASE("processes of a host share threads and memory, and nothing else") {
  std::vector<Room> const rooms{{Resource::threads, 900, "threads"},
                                {Resource::descriptors, 300, "descriptors"}};

  CHECK(device_limit(rooms, {.descriptors = 1}, 2).limit == "descriptors");
  CHECK(device_limit(rooms, {.descriptors = 1}, 4).limit == "threads");
  CHECK(device_limit(rooms, {.descriptors = 1}, 4).count == 225);
}

TEST_CASE("what is used already is not there any more, and a room is never negative") {
  Root const root;
  root.write("proc/loadavg", "0.01 0.02 0.03 1/140 31382\n");
  root.write("proc/sys/kernel/pid_max", "200\n");

  CHECK(root.limit().count == 60);
  CHECK(root.limit().limit == "/proc/sys/kernel/pid_max is 200");

  root.write("proc/sys/kernel/threads-max", "130\n");
  CHECK(root.limit().count == 0);
}

TEST_CASE("the limits of all control groups around the process count, of both versions") {
  Root const root;
  root.write("proc/self/cgroup", "9:pids:/a/b\n8:memory:/m\n0::/job/step\n");
  root.write("sys/fs/cgroup/job/pids.max", "70\n");
  root.write("sys/fs/cgroup/job/pids.current", "20\n");
  root.write("sys/fs/cgroup/job/step/pids.max", "max\n");
  CHECK(root.limit().count == 50);

  root.write("sys/fs/cgroup/pids/a/pids.max", "30\n");
  CHECK(root.limit().count == 30);

  root.write("sys/fs/cgroup/memory/m/memory.limit_in_bytes", std::to_string(15 * mib));
  CHECK(root.limit().count == 20);
  CHECK(root.limit().limit.starts_with("a control group's memory.limit_in_bytes is "));
}

TEST_CASE("the available memory and the mappings of this process count") {
  Root const root;
  root.write("proc/meminfo", "MemTotal: 9999999 kB\nMemFree: 1 kB\nMemAvailable:   30720 kB\n");
  CHECK(root.limit().count == 40);
  CHECK(root.limit().limit == "the available memory is 30 MiB");

  root.write("proc/sys/vm/max_map_count", "24\n");
  root.write("proc/self/maps", "one\ntwo\n");
  CHECK(root.limit().count == 11);
}

TEST_CASE("memory that is swapped or taken back from files is free") {
  Root const root;
  auto const left = [&] { return detail::memory_rooms_under(root.path()).back().left / mib; };
  root.write("proc/meminfo", "MemAvailable: 10240 kB\nSwapFree: 5120 kB\n");
  CHECK(left() == 15);

  root.write("proc/self/cgroup", "0::/job\n");
  root.write("sys/fs/cgroup/job/memory.max", std::to_string(100 * mib));
  root.write("sys/fs/cgroup/job/memory.current", std::to_string(90 * mib));
  CHECK(left() == 15);
  root.write("sys/fs/cgroup/job/memory.stat",
             "file 99\nactive_file 10485760\nunevictable 1\ninactive_file 31457280\n");
  CHECK(left() == 55);
}

TEST_CASE("a control group without a limit, as version 1 shows it, has much room") {
  Root const root;
  root.write("proc/meminfo", "MemAvailable: 10240 kB\nSwapFree: 8388608 kB\n");
  root.write("proc/self/cgroup", "8:memory:/m\n");
  auto const file = [&](std::string const& name, std::string const& content) {
    root.write("sys/fs/cgroup/memory/m/memory." + name, content);
  };
  file("limit_in_bytes", "9223372036854771712\n");
  file("usage_in_bytes", std::to_string(2048 * mib));
  auto const left = [&] { return detail::memory_rooms_under(root.path()).back().left / mib; };
  CHECK(left() > 1'000'000);

  file("limit_in_bytes", std::to_string(8192 * mib));
  file("stat", "active_file 4096\ntotal_active_file 0\ntotal_inactive_file 1073741824\n");
  CHECK(left() == 8192 - 2048 + 1024 + 8192);
}

TEST_CASE("more host memory than there is is refused before the system kills the process") {
  auto const rooms = detail::memory_rooms_under("/");
  REQUIRE_FALSE(rooms.empty());

  CHECK_FALSE(lacking_host_memory(1 << 20));
  CHECK(lacking_host_memory(std::int64_t{1} << 50).value().resource == Resource::memory);
}

TEST_CASE("a system that says nothing sets no limit") {
  CHECK(Root().limit().count > 1'000'000);
  CHECK(Root().limit().limit.empty());
}

TEST_CASE("this process may have some devices, but not any number") {
  auto const most = device_limit(rooms_of_this_process(), {1, bytes_of_a_stack(), 0}, 1);

  CHECK(most.count >= 8);
  CHECK(most.count < 100'000'000);
  CHECK_FALSE(most.limit.empty());
}

TEST_CASE("a number is found in the first line and in others, and only by its whole name") {
  std::string const file = "Threads: 3\nVmSize:\t  12 kB\n";

  CHECK(detail::number_of(file, "Threads") == 3);
  CHECK(detail::number_of(file, "VmSize") == 12);
  CHECK(detail::number_of(file, "Size") == 0);
  CHECK(detail::number_of(file, "SwapFree") == 0);
  CHECK(detail::number_of("", "Threads") == 0);
}

TEST_SUITE_END();
