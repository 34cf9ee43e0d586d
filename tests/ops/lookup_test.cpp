// A user's program without using-directives or using-declarations: reductions are found by their
// arguments.
#include <vector>

#include <doctest/doctest.h>
#include <tessera/tessera.hpp>

namespace ts = tessera;

TEST_SUITE_BEGIN("ops/lookup");

TEST_CASE("reductions are found without their namespace") {
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto const u = ts::from_host<double>(std::vector<double>{1, 2, 3, 4}, {4}, rows);

  CHECK(sum(u * u).value() == 30);
  CHECK(max(u).value() == 4);
}

TEST_SUITE_END();
