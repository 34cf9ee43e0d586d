#include "src/base/file_bytes.hpp"

#include <cerrno>
#include <cstdio>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera;

TEST_SUITE_BEGIN("base/file_bytes");

TEST_CASE("what is written to a file is read back") {
  auto const path = "file_bytes_test_" + std::to_string(::getpid());
  for (std::string const& bytes :
       {std::string(), std::string("a\0b\n", 4), std::string(9999, 'x')}) {
    REQUIRE(write_file(path, bytes));
    CHECK(bytes_of_file(path) == bytes);
  }
  std::remove(path.c_str());
}

TEST_CASE("a file that is not there, or cannot be written, leaves the reason in errno") {
  CHECK_FALSE(bytes_of_file("no such file"));
  CHECK(errno == ENOENT);
  CHECK_FALSE(bytes_of_file("."));
  CHECK(errno == EISDIR);
  CHECK_FALSE(write_file("no such folder/file", "x"));
  CHECK(errno == ENOENT);
  CHECK_FALSE(write_file("/dev/full", "x"));
  CHECK(errno == ENOSPC);
}

TEST_CASE("a pipe that nobody reads is an error, not a wait") {
  auto const path = "file_bytes_test_pipe_" + std::to_string(::getpid());
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK_FALSE(write_file(path, "x"));
  CHECK(errno == ENXIO);
  std::remove(path.c_str());
}

TEST_SUITE_END();
