#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/contract.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/ops/reductions.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::over;
using test::scrambled;
using test::spread_out;

/// Reductions of functions: each term is the value that an array of the function's values holds.
TEST_SUITE_BEGIN("ops/functions");

namespace {

test::Mirror<double> fractions(Shape const& shape) {
  auto result = scrambled<double>(shape);
  for (auto& x : result.cells) x /= 101;
  return result;
}

}  // namespace

TEST_CASE("whole reductions, of rows longer than a block") {
  for (std::int64_t const cells : {1, 40, 2000}) {
    auto const m = fractions({cells});
    auto const u = spread_out<double, 1>(m, over(3));
    DistArray const values = sin(u) * exp(u);
    auto const expression = [&] { return sin(u) * exp(u); };

    CHECK_ALL(sum(expression()).value() == sum(values).value());
    CHECK_ALL(sum(expression(), fast).value() == doctest::Approx(sum(values).value()));
    CHECK_ALL(max(expression()).value() == max(values).value());
    CHECK_ALL(argmin(expression()).value() == argmin(values).value());
    CHECK_ALL(mean(expression()).value() == mean(values).value());
    CHECK_ALL(any(expression() > 0.5).value() == any(values > 0.5).value());
  }
}

TEST_CASE("along rows and columns") {
  auto const m = fractions({23, 400});
  for (auto const& sharding : {over(1, 1), over(2, 4), over(8, 1)}) {
    auto const u = spread_out<double, 2>(m, sharding);
    DistArray const values = exp(u) + cos(u);

    for (int const axis_number : {0, 1}) {
      CAPTURE(axis_number);
      CHECK_ALL(sum(exp(u) + cos(u), axis(axis_number)).to_host() ==
                sum(values, axis(axis_number)).to_host());
      CHECK_ALL(argmax(exp(u) + cos(u), axis(axis_number)).to_host() ==
                argmax(values, axis(axis_number)).to_host());
    }
  }
}

TEST_CASE("of neighbours") {
  auto const m = fractions({600});
  auto const u = spread_out<double, 1>(m, over(4));
  DistArray const values = exp(shift(u, 1, periodic)) - u;
  CHECK_ALL(sum(exp(shift(u, 1, periodic)) - u).value() == sum(values).value());
}

TEST_CASE("terms with fused products") {
  auto const p = 1 + 0x1p-30;  // its square is 1 + 2^-29 + 2^-60
  for (auto const& sharding : {over(1, 1), over(2, 4), over(8, 1)}) {
    auto const u = full<double>({23, 400}, p, sharding);
    auto const rest = [&] { return contract(u * u - (1 + 0x1p-29)); };

    CHECK_ALL(sum(rest()).value() == 9200 * 0x1p-60);
    CHECK_ALL(max(abs(rest())).value() == 0x1p-60);
    CHECK_ALL(sum(rest(), axis(0)).to_host() == std::vector<double>(400, 23 * 0x1p-60));
    CHECK_ALL(sum(rest(), axis(1)).to_host() == std::vector<double>(23, 400 * 0x1p-60));
    CHECK_ALL(sum(u * u - (1 + 0x1p-29)).value() == 0);
  }
}

TEST_CASE("terms that are read several times") {
  auto const m = fractions({23, 400});
  for (auto const& sharding : {over(1, 1), over(2, 4), over(8, 1)}) {
    auto const u = spread_out<double, 2>(m, sharding);
    auto const term = [&](auto const& s) {
      return s(all, range(0, -2)) * s(all, from(2)) + exp(s(all, range(1, -1)));
    };
    auto const named = [&] { return term(let(0.5 * u * u - u)); };
    DistArray const values = term(0.5 * u * u - u);

    CHECK_ALL(sum(named()).value() == sum(values).value());
    CHECK_ALL(argmax(named()).value() == argmax(values).value());
    CHECK_ALL(sum(named(), axis(0)).to_host() == sum(values, axis(0)).to_host());
    CHECK_ALL(sum(named(), axis(1)).to_host() == sum(values, axis(1)).to_host());
    CHECK_ALL(argmin(named(), axis(0)).to_host() == argmin(values, axis(0)).to_host());
  }
}

TEST_SUITE_END();
