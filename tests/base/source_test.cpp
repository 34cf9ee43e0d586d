#include "tessera/base/source.hpp"

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("base/source");

namespace {

// As a function of the library takes the place of its call.
SourceLocation place_of_call(SourceLocation location = std::source_location::current()) {
  return location;
}

}  // namespace

TEST_CASE("a defaulted place is that of the call") {
  auto const line = static_cast<std::uint32_t>(__LINE__) + 1;
  SourceLocation const location = place_of_call();

  CHECK(location.known());
  CHECK(location.line == line);
  CHECK(location.file_name() == "source_test.cpp");
}

TEST_CASE("a place prints the file without its folders, and its line") {
  CHECK(text(SourceLocation("/home/me/heat.cpp", 12)) == "heat.cpp:12");
  CHECK(text(SourceLocation("heat.cpp", 3)) == "heat.cpp:3");
}

TEST_CASE("a statement without a place says so") {
  CHECK_FALSE(SourceLocation().known());
  CHECK(text(SourceLocation()) == "(unknown place)");
}

TEST_SUITE_END();
