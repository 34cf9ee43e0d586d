#include "src/device/cores.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

using namespace tessera;
using detail::control_group;
using detail::quota_cores;
using detail::quota_cores_under;

TEST_SUITE_BEGIN("device/cores");

namespace {

/// A folder of its own that goes away with all files in it.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("tessera_cores_test_" + std::to_string(::getpid()))) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;

  void write(std::string const& file, std::string const& content) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << content;
  }
  [[nodiscard]] std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a quota is rounded up to whole cores") {
  CHECK(quota_cores("150000 100000\n") == 2);
  CHECK(quota_cores("100000 100000") == 1);
  CHECK(quota_cores("100001 100000") == 2);
  CHECK(quota_cores("1000 100000") == 1);
  CHECK(quota_cores("800000 50000") == 16);
}

TEST_CASE("no quota, or text that is none, limits nothing") {
  for (auto const* text : {"max 100000\n", "-1 100000", "0 100000", "100000 0", "100000", "", " ",
                           "lots of cores", "1e5 100000"}) {
    CAPTURE(text);
    CHECK(quota_cores(text) == std::nullopt);
  }
}

TEST_CASE("a process finds its group in either version") {
  auto const* const text = "9:name=systemd:/\n4:cpu,cpuacct:/box/a:b\n3:cpuset:/\n0::/user/7\n";
  CHECK(control_group(text, "") == "/user/7");
  CHECK(control_group(text, "cpu") == "/box/a:b");
  CHECK(control_group(text, "cpuset") == "/");
  CHECK(control_group(text, "memory") == std::nullopt);
  CHECK(control_group("", "") == std::nullopt);
  CHECK(control_group("no colons\n1:one\n", "one") == std::nullopt);
}

TEST_CASE("the least quota of all enclosing groups counts") {
  Folder const folder;
  folder.write("user/cpu.max", "300000 100000\n");
  folder.write("user/7/cpu.max", "max 100000\n");
  folder.write("user/7/deep/cpu.max", "700000 100000\n");

  CHECK(quota_cores_under(folder.path(), "0::/user/7/deep\n") == 3);
  CHECK(quota_cores_under(folder.path(), "0::/user\n") == 3);
  CHECK(quota_cores_under(folder.path(), "0::/\n") == std::nullopt);
  CHECK(quota_cores_under(folder.path(), "") == std::nullopt);
}

TEST_CASE("version 1 keeps quota and period apart, and a container may not see its own path") {
  Folder const folder;
  folder.write("cpu/cpu.cfs_quota_us", "250000\n");
  folder.write("cpu/cpu.cfs_period_us", "100000\n");

  CHECK(quota_cores_under(folder.path(), "4:cpu,cpuacct:/docker/1234\n0::/\n") == 3);
  folder.write("cpu/cpu.cfs_quota_us", "-1\n");
  CHECK(quota_cores_under(folder.path(), "4:cpu,cpuacct:/docker/1234\n0::/\n") == std::nullopt);
}

TEST_CASE("this process has at least one core and no more than its affinity mask") {
  CHECK(available_cores() >= 1);
  CHECK(available_cores() <= static_cast<std::int64_t>(std::thread::hardware_concurrency()));

  std::thread([] {
    cpu_set_t all;
    REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
      if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(available_cores() == 1);
  }).join();
}

TEST_CASE("the cores of the mask and the quota give those that may be used") {
  auto const facts = core_facts();

  CHECK(!facts.mask.empty());
  CHECK(std::is_sorted(facts.mask.begin(), facts.mask.end()));
  auto const in_mask = std::ssize(facts.mask);
  CHECK(available_cores() == std::min<std::int64_t>(in_mask, facts.quota.value_or(in_mask)));
}

TEST_SUITE_END();
