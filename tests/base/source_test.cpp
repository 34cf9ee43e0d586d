#include "tessera/base/source.hpp"

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("base/source");

namespace {

// As a function of the library takes the place of its call.
Place place_of_call(Place place = std::source_location::current()) {
  return place;
}

}  // namespace

TEST_CASE("a defaulted place is that of the call") {
  auto const line = static_cast<std::uint32_t>(__LINE__) + 1;
  Place const place = place_of_call();

  CHECK(place.known());
  CHECK(place.line == line);
  CHECK(place.file_name() == "source_test.cpp");
}

TEST_CASE("a place prints the file without its folders, and its line") {
  CHECK(text(Place("/home/me/heat.cpp", 12)) == "heat.cpp:12");
  CHECK(text(Place("heat.cpp", 3)) == "heat.cpp:3");
}

TEST_CASE("a statement without a place says so") {
  CHECK_FALSE(Place().known());
  CHECK(text(Place()) == "(unknown place)");
}

TEST_SUITE_END();
