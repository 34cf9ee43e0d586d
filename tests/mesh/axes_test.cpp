#include "src/mesh/axes.hpp"

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

using namespace tessera;

/// Lists of mesh axes.
TEST_SUITE_BEGIN("mesh/axes");

namespace {

Mesh const grid({{"x", 2}, {"y", 3}, {"z", 4}});

}  // namespace

TEST_CASE("devices along axes are the product of their sizes") {
  CHECK(devices_along(grid, {}) == 1);
  CHECK(devices_along(grid, {"z"}) == 4);
  CHECK(devices_along(grid, {"z", "x"}) == 8);
  CHECK_THROWS_AS((void)devices_along(grid, {"w"}), ShardingError);
}

TEST_CASE("names in a list, and those that another list lacks") {
  CHECK(contains({"x", "y"}, "y"));
  CHECK(!contains({"x", "y"}, "z"));
  CHECK(without({"x", "y", "z"}, {"y", "w"}) == AxisNames{"x", "z"});
}

TEST_CASE("an axis cuts a dimension if an entry names it") {
  auto const spec = P("z", none, {"y", "x"});
  CHECK(is_cut_by(spec, "x"));
  CHECK(is_cut_by(spec, "z"));
  CHECK(!is_cut_by(P("z", none), "x"));
  CHECK(!is_cut_by(P("z").partial("x"), "x"));
}

TEST_SUITE_END();
