#pragma once
/// @file
/// Files of tests: made by process 0, in a folder that all processes of the job name alike.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tessera/runtime/runtime.hpp"

#include "support/agree.hpp"

namespace tessera::test {

/// A folder that lives as long as this object. Ranks: collective.
class Folder {
 public:
  Folder() {
    bool const is_first = process().value() == 0;
    auto const number = total_over_processes(is_first ? ::getpid() : 0);
    path_ = std::filesystem::temp_directory_path() / ("tessera-test-" + std::to_string(number));
    if (is_first) std::filesystem::create_directory(path_);
    (void)agree(true);
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() {
    (void)agree(true);
    std::error_code ignored;
    if (process().value() == 0) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string operator/(std::string const& name) const { return path_ / name; }
  /// A file of these bytes. Ranks: collective.
  std::string put(std::string const& name, std::string const& bytes) const {
    std::string const path = *this / name;
    if (process().value() == 0) std::ofstream(path, std::ios::binary) << bytes << std::flush;
    (void)agree(true);
    return path;
  }
  /// How many files there are.
  [[nodiscard]] std::int64_t count() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] inline std::string bytes_of_file(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What a call throws, if it is an E on every process. Ranks: collective.
template <class E, class F>
std::string message(F const& call) {
  std::string what;
  try {
    call();
  } catch (E const& error) {
    what = error.what();
  } catch (std::exception const& error) {
    what = std::string("another class: ") + error.what();
    CHECK_ALL(false);
    return what;
  }
  CHECK_ALL(!what.empty());
  return what;
}

[[nodiscard]] inline bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tessera::test
