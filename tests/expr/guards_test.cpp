#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"
#include "support/left_out.hpp"

using namespace tessera;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("expr/guards");

TEST_CASE(
    "floating values beyond an integer type become the nearest it has, on any number of devices") {
  std::vector<double> const values{5e9, -5e9, 1e300, -1e300, 3.9, -3.9, -0.5, std::nan("")};
  constexpr std::int64_t cells = 67;
  for (std::int64_t const devices : {1, 3, 8}) {
    auto const u = from_index<double>({cells}, over(devices), [&](auto i) {
      return values[static_cast<std::size_t>(i[0]) % values.size()];
    });
    auto a = zeros<std::uint32_t>({cells}, over(devices));
    auto b = zeros<std::int64_t>({cells}, over(devices));

    a = u;
    b = cast<std::int64_t>(u);

    constexpr auto most32 = std::numeric_limits<std::uint32_t>::max();
    using Long = std::numeric_limits<std::int64_t>;
    std::vector<std::uint32_t> const row32{most32, 0, most32, 0, 3, 0, 0, 0};
    std::vector<std::int64_t> const row64{5000000000, -5000000000, Long::max(), Long::min(),
                                          3,          -3,          0,           0};
    std::vector<std::uint32_t> expected32;
    std::vector<std::int64_t> expected64;
    for (std::size_t i = 0; i < cells; ++i) {
      expected32.push_back(row32[i % 8]);
      expected64.push_back(row64[i % 8]);
    }
    CHECK_ALL(holds(a, expected32));
    CHECK_ALL(holds(b, expected64));
  }
}

TEST_CASE("a number that the array's integer type cannot hold is refused") {
  auto const u = full<std::uint8_t>({4}, 200, over(2));
  auto const v = full<std::int32_t>({4}, 1, over(2));
  CHECK_ALL_THROW((void)(u > -1), UsageError);
  CHECK_ALL_THROW((void)(u == -56), UsageError);
  CHECK_ALL_THROW((void)(v < 3'000'000'000LL), UsageError);
  CHECK_ALL_THROW((void)(300 + u), UsageError);
  DistArray<bool, 1> const fits = u == 200;
  CHECK_ALL(fits.to_host() == std::vector<bool>(4, true));
}

TEST_CASE("a new array from arrays on two meshes asks for a sharding") {
  auto const u = iota<double>({4}, NamedSharding(Mesh({0, 1}, {2}, {"x"}), P("x")));
  auto const v = iota<double>({4}, NamedSharding(Mesh({2, 3}, {2}, {"x"}), P("x")));
  CHECK_ALL_THROW((DistArray<double, 1>(u + v)), UsageError);
  DistArray<double, 1> const w(u + v, over(3));
  CHECK_ALL(holds(w, std::vector<double>{0, 2, 4, 6}));
}

TEST_CASE("a function that Tessera runs may not call Tessera") {
  if (test::left_out_if(process_count() > 1, "what one process throws ends the job")) return;
  auto const u = iota<double>({8}, over(4));
  auto const read_inside = [&](auto i) { return double(u(i[0])); };
  CHECK_THROWS_AS((void)from_index<double>({8}, over(4), read_inside), UsageError);
  CHECK(holds(u, std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_CASE("a device that is not there is an error") {
  CHECK_ALL_THROW((void)devices()[device_count()], IndexError);
  CHECK_ALL_THROW((void)addressable_devices()[-1], IndexError);
}

TEST_CASE("a shard beyond any memory is refused before it is touched") {
  NamedSharding const one(Mesh({{"x", 1}}), P("x", none));
  CHECK_ALL_THROW((DistArray<double, 2>({std::int64_t{1} << 61, 2}, one)), Error);
}

TEST_CASE("an inner explain is part of the outer one") {
  auto u = iota<double>({8}, over(4));
  Explanations inner;
  auto const outer = explain([&] {
    u = u + 1.0;
    inner = explain([&] { u = roll(u, 1); });
    u = u + 2.0;
  });
  CHECK_ALL(inner.statements.size() == 1);
  CHECK_ALL(outer.statements.size() == 3);
}

TEST_SUITE_END();
