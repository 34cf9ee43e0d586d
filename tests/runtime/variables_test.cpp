#include "src/runtime/variables.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "support/fake_job.hpp"
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
      {"TESSERA_DEVICES", "many"}, {"TESSERA_DEVICE", "abacus"},
      {"TESSERA_ROUTE", "pigeon"}, {"TESSERA_GPU_ROUTE", "pigeon"},
      {"TESSERA_SLOT_BYTES", "1"}, {"TESSERA_STALL", "soon"},
      {"TESSERA_SILENCE", "-1"},   {"TESSERA_CHECK", "records"},
      {"TESSERA_DEPTH", "0"},      {"TESSERA_TILE", "64x"},
      {"TESSERA_TILE", "64 x 64"}, {"TESSERA_OVERLAP", "yes"},
      {"TESSERA_GRAPHS", "2"},     {"TESSERA_STRICT", "on"},
      {"TESSERA_REPORT", "on"},    {"TESSERA_TRACE", "no such folder/run.json"},
      {"TESSERA_COLOR", "pink"},   {"TESSERA_EMULATED_PEERS", "friends"},
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

TEST_CASE("variables that can be read are none of its business") {
  for (auto const& [name, value] : {std::pair("TESSERA_COLOR", "always"),
                                    {"TESSERA_GPU_ROUTE", "ucx"},
                                    {"TESSERA_TILE", "64x0x8"},
                                    {"TESSERA_GRAPHS", ""}}) {
    CAPTURE(name);
    CHECK(thrown(name, value) == std::pair(std::string(), std::string()));
  }
}

TEST_SUITE_END();
