#include <array>
#include <limits>

#include <doctest/doctest.h>
#include <tessera/tessera.hpp>

#include "support/noted_numbers.hpp"

namespace ts = tessera;

TEST_SUITE_BEGIN("program/numbers");

namespace {

ts::NamedSharding rows() {
  return {ts::Mesh({{"x", ts::device_count()}}), ts::P("x")};
}

}  // namespace

TEST_CASE("a number that is NaN in other bits in each step does not stop a recording") {
  auto u = ts::zeros<double>({11}, rows());
  std::size_t step = 0;
  std::array const nans{std::numeric_limits<double>::quiet_NaN(), -__builtin_nan("0x1234")};

  ts::iterate(6, [&](ts::Step) { u = ts::where(u > 5.0, nans[step++ % 2U], u + 1.0); });

  CHECK(u.to_host()[0] == 6.0);
}

TEST_CASE("the number of the step is one of a statement's numbers") {
  auto u = ts::zeros<double>({11}, rows());

  CHECK(ts::test::list_of([&] { u = 0.5 * u + ts::Step(7); }) == "0.5, step 7");
}

TEST_SUITE_END();
