#include "src/device/caches.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace tessera;
using detail::caches_under;

TEST_SUITE_BEGIN("device/caches");

namespace {

/// A core's caches as the system shows them; goes away with all files in it.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("tessera_caches_test_" + std::to_string(::getpid()))) {}
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;

  void add(std::string const& level, std::string const& type, std::string const& size,
           std::string const& shared) {
    auto const cache = path_ / ("index" + std::to_string(count_++));
    std::filesystem::create_directories(cache);
    std::ofstream(cache / "level") << level << '\n';
    std::ofstream(cache / "type") << type << '\n';
    std::ofstream(cache / "size") << size << '\n';
    std::ofstream(cache / "shared_cpu_list") << shared << '\n';
  }
  [[nodiscard]] std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int count_ = 0;
};

bool is(Caches const& caches, std::int64_t nearest, std::int64_t second) {
  CAPTURE(caches.nearest);
  CAPTURE(caches.second);
  return caches == Caches{nearest, second};
}

}  // namespace

TEST_CASE("the data caches of a core are found among all its caches") {
  Folder folder;
  folder.add("1", "Data", "48K", "0");
  folder.add("1", "Instruction", "32K", "0");
  folder.add("2", "Unified", "1024K", "0");
  folder.add("3", "Unified", "32768K", "0-1");

  CHECK(is(caches_under(folder.path()), 48 << 10, 1 << 20));
}

TEST_CASE("cores share a second cache, but the threads of a core count as one") {
  Folder cores;
  cores.add("1", "Data", "32K", "5");
  cores.add("2", "Unified", "2M", "4-7");
  CHECK(is(caches_under(cores.path()), 32 << 10, 512 << 10));

  Folder threads;
  threads.add("1", "Data", "32K", "0,64");
  threads.add("2", "Unified", "1M", "0,64");
  CHECK(is(caches_under(threads.path()), 32 << 10, 1 << 20));
}

TEST_CASE("a system that describes no caches gives zeros, and a core has the usual ones") {
  CHECK(is(caches_under("/nowhere"), 0, 0));
  CHECK(core_caches().nearest > 0);
  CHECK(core_caches().second > 0);
}

TEST_SUITE_END();
