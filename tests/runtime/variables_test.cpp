#include "src/runtime/start/variables.hpp"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "support/as_user.hpp"
#include "support/fake_job.hpp"
#include "support/left_out.hpp"
#include "support/setting.hpp"

using namespace tessera;
using test::FakeJob;
using test::Setting;

TEST_SUITE_BEGIN("runtime/variables");

namespace {

// What processes 0 and 1 of a job throw, one of which has the variable; empty if nothing.
std::pair<std::string, std::string> thrown(char const* name, char const* value) {
  FakeJob job(2);
  auto const error_of = [&job](std::size_t process) {
    try {
      check_variables(job[process]);
    } catch (ConfigError const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::string first;
  {
    Setting const setting(name, value);
    first = error_of(0);
  }
  return {first, error_of(1)};
}

}  // namespace

TEST_CASE("any variable that cannot be read is refused at the start, by all processes alike") {
  std::vector<std::pair<char const*, char const*>> const mistakes{
      {"TESSERA_DEVICES", "many"},     {"TESSERA_DEVICE", "abacus"},
      {"TESSERA_ROUTE", "pigeon"},     {"TESSERA_GPU_ROUTE", "pigeon"},
      {"TESSERA_SLOT_BYTES", "1"},     {"TESSERA_STALL", "soon"},
      {"TESSERA_SILENCE", "-1"},       {"TESSERA_CHECK", "records"},
      {"TESSERA_DEPTH", "0"},          {"TESSERA_TILE", "64x"},
      {"TESSERA_TILE", "64 x 64"},     {"TESSERA_OVERLAP", "yes"},
      {"TESSERA_GRAPHS", "2"},         {"TESSERA_STRICT", "on"},
      {"TESSERA_REPORT", "on"},        {"TESSERA_TRACE", "no such folder/run.json"},
      {"TESSERA_COLOR", "pink"},       {"TESSERA_EMULATED_PEERS", "friends"},
      {"TESSERA_FORWARD", "-1"},       {"TESSERA_COSTS", "cheap"},
      {"TESSERA_COSTS", "messages=0"}, {"TESSERA_ROLES", "x=rows"},
  };
  for (auto const& [name, value] : mistakes) {
    CAPTURE(name);
    CAPTURE(value);
    auto const [first, second] = thrown(name, value);

    CHECK(first.starts_with(std::string(name) + '=' + value));
    CHECK(first.ends_with(" (process 0)"));
    CHECK(first == second);
  }
}

TEST_CASE("a message shows the beginning of a long value, and the reason") {
  auto const file = "no such folder/" + std::string(1000, 'x') + ".json";
  auto const [first, second] = thrown("TESSERA_TRACE", file.c_str());

  CHECK(first.find("xxx... (1020 bytes) lies in a folder that is not there; name another") !=
        std::string::npos);
  CHECK(first.size() < 400);
  CHECK(first == second);
}

TEST_CASE("a process alone says what is wrong without its number") {
  FakeJob job(1);
  Setting const setting("TESSERA_DEPTH", "0");

  CHECK_THROWS_WITH_AS(check_variables(job[0]), doctest::Contains("TESSERA_DEPTH=0"), ConfigError);
  CHECK_THROWS_WITH_AS(check_variables(job[0]), doctest::Contains("unset it"), ConfigError);
}

TEST_CASE("a trace is refused where the user that the process acts as cannot write it") {
  if (test::left_out_if(::geteuid() != 0, "it acts as another user")) return;
  std::string folder = "/tmp/tessera-test-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  {
    test::AsUser const other(test::nobody);
    auto const [first, second] = thrown("TESSERA_TRACE", (folder + "/run.json").c_str());
    CHECK(first.find("cannot be written") != std::string::npos);
    CHECK(first == second);
  }
  CHECK(thrown("TESSERA_TRACE", (folder + "/run.json").c_str()).first.empty());
  (void)::rmdir(folder.c_str());
}

TEST_CASE("variables that can be read are none of its business") {
  for (auto const& [name, value] : {std::pair("TESSERA_COLOR", "always"),
                                    {"TESSERA_GPU_ROUTE", "ucx"},
                                    {"TESSERA_TILE", "64x0x8"},
                                    {"TESSERA_FORWARD", "0"},
                                    {"TESSERA_COSTS", "network_bytes=1e8,messages=2.5e5"},
                                    {"TESSERA_ROLES", "x=0,y=terms,z=copies"},
                                    {"TESSERA_GRAPHS", ""}}) {
    CAPTURE(name);
    CHECK(thrown(name, value) == std::pair(std::string(), std::string()));
  }
}

TEST_SUITE_END();
