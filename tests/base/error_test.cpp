#include "tessera/base/error.hpp"

#include <exception>
#include <stdexcept>
#include <type_traits>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("base/error");

TEST_CASE_TEMPLATE("every error can be caught as Error, and as the standard's", Kind, ShapeError,
                   IndexError, ShardingError, UsageError, ConfigError, TransportError, DeviceError,
                   PeerFailed, Mismatch) {
  CHECK_THROWS_WITH_AS(throw Kind("why"), "why", Error);
  CHECK(std::is_base_of_v<std::runtime_error, Kind>);
}

TEST_CASE("a backend left out of the build says how to put it in") {
  CHECK_THROWS_WITH_AS(throw BackendNotBuilt("MPI", "TESSERA_WITH_MPI"),
                       "MPI is not part of this build; configure with -DTESSERA_WITH_MPI=ON",
                       BackendNotBuilt);
  CHECK(std::is_base_of_v<Error, BackendNotBuilt>);
}

TEST_CASE("the message of the last error is known while that error exists") {
  std::exception_ptr kept;
  try {
    throw IndexError("first");
  } catch (IndexError const& error) {
    CHECK(last_error_text() == "first");
    kept = std::make_exception_ptr(error);
  }
  CHECK(last_error_text() == "first");
  kept = nullptr;
  CHECK(last_error_text().empty());

  try {
    throw std::runtime_error("another kind");
  } catch (std::runtime_error const&) {
    CHECK(last_error_text().empty());
  }
}

TEST_SUITE_END();
