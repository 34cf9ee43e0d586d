// A user's program without using-directives or using-declarations: operators and functions of
// arrays are found by their arguments.
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <tessera/tessera.hpp>

namespace ts = tessera;

TEST_SUITE_BEGIN("expr/lookup");

namespace {

// Four cells, spread over all devices.
ts::DistArray<double, 1> array_of(std::vector<double> const& cells) {
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  return ts::from_host<double>(cells, {4}, rows);
}

}  // namespace

TEST_CASE("operators of indices are found without their namespace") {
  auto u = array_of({0, 0, 0, 0});

  u = 1.0 - ts::index(0);

  CHECK(u.to_host() == std::vector<double>{1, 0, -1, -2});
}

TEST_CASE("functions of arrays are found without their namespace") {
  auto const u = array_of({0.25, 1, 4, 9});

  ts::DistArray const roots = sqrt(u);
  ts::DistArray const chosen = where(u > 0.5, u, 2.0 * u);

  CHECK(roots.to_host() == std::vector<double>{0.5, 1, 2, 3});
  CHECK(chosen.to_host() == std::vector<double>{0.5, 1, 4, 9});
}

TEST_CASE("std::swap exchanges two arrays") {
  auto u = array_of({1, 2, 3, 4});
  auto v = array_of({5, 6, 7, 8});

  std::swap(u, v);

  CHECK(u.to_host() == std::vector<double>{5, 6, 7, 8});
  CHECK(v.to_host() == std::vector<double>{1, 2, 3, 4});
}

TEST_SUITE_END();
