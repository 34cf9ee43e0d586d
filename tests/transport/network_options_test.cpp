#include "src/transport/network_options.hpp"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/network_options");

namespace {

/// A variable of the environment for as long as this lives.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name) {
    if (auto const* const known = std::getenv(name)) before_ = known;
    ::setenv(name, value, 1);
  }
  ~Variable() {
    if (before_.empty())
      ::unsetenv(name_);
    else
      ::setenv(name_, before_.c_str(), 1);
  }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;

 private:
  char const* name_;
  std::string before_;
};

}  // namespace

TEST_CASE("variables that are empty leave what the library likes") {
  Variable const route("TESSERA_ROUTE", "");
  Variable const slot("TESSERA_SLOT_BYTES", "");
  Variable const stall("TESSERA_STALL", "");
  Variable const check("TESSERA_CHECK", "");

  auto const options = NetworkOptions::from_environment();

  CHECK_FALSE(options.forced);
  CHECK(options.slot_bytes == 0);
  CHECK(options.stall_seconds == 30);
  CHECK_FALSE(options.compares_statements);
}

TEST_CASE("each variable sets its option") {
  Variable const route("TESSERA_ROUTE", "mpi");
  Variable const slot("TESSERA_SLOT_BYTES", "4096");
  Variable const stall("TESSERA_STALL", "2.5");
  Variable const silence("TESSERA_SILENCE", "1.5");
  Variable const check("TESSERA_CHECK", "communication");

  auto const options = NetworkOptions::from_environment();

  CHECK(options.forced == Route::mpi);
  CHECK(options.slot_bytes == 4096);
  CHECK(options.stall_seconds == 2.5);
  CHECK(options.silence_seconds == 1.5);
  CHECK(options.compares_statements);
  CHECK_FALSE(options.compares_numbers);
}

TEST_CASE("who compares numbers compares statements too") {
  Variable const check("TESSERA_CHECK", "numbers");

  auto const options = NetworkOptions::from_environment();

  CHECK(options.compares_statements);
  CHECK(options.compares_numbers);
}

TEST_CASE("only routes between processes can be forced") {
  for (auto const* name : {"shm", "ucx", "mpi"}) {
    Variable const route("TESSERA_ROUTE", name);
    CHECK(to_string(NetworkOptions::from_environment().forced.value()) == name);
  }
  Variable const route("TESSERA_ROUTE", "local");
  CHECK_THROWS_WITH_AS((void)NetworkOptions::from_environment(),
                       doctest::Contains("TESSERA_ROUTE=local is not one of shm, ucx, mpi"),
                       ConfigError);
}

TEST_CASE("slots that are too small or too large are refused") {
  for (auto const* bytes : {"127", "1073741825"}) {
    Variable const slot("TESSERA_SLOT_BYTES", bytes);
    CHECK_THROWS_AS((void)NetworkOptions::from_environment(), ConfigError);
  }
}

TEST_CASE("all processes compare, and have slots as large, as any of them asks for") {
  FakeJob job(2);
  NetworkOptions asks;
  asks.compares_statements = true;
  asks.compares_numbers = true;
  asks.slot_bytes = 4096;

  (void)asks.agreed(job[0]);
  auto const options = NetworkOptions().agreed(job[1]);

  CHECK(options.compares_statements);
  CHECK(options.compares_numbers);
  CHECK(options.slot_bytes == 4096);
}

TEST_SUITE_END();
