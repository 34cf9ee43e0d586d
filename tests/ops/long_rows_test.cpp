#include <algorithm>
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "tessera/array/contract.hpp"
#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/ops/reductions.hpp"

#include "src/runtime/engine.hpp"

#include "support/arrays.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("ops/long_rows");

namespace {

bool is_non_temporal(Explanations const& said) {
  return said.statements.at(0).writes.find("with non-temporal stores") != std::string::npos;
}

}  // namespace

TEST_CASE("a long row is right wherever a device's cells begin") {
  auto const devices = std::min<std::int64_t>(device_count(), 2);
  auto const n = devices * (std::int64_t{1} << 21) + 5;  // 16 MiB each
  auto const value = [](std::int64_t i) { return 1.0 / static_cast<double>(i + 1); };
  auto u = from_index<double>({n}, test::over(devices), [&](auto i) { return value(i[0]); });
  auto const expected = from_index<double>({n}, test::over(devices), [&](auto i) {
    auto const at = i[0];
    return at == 0 || at == n - 1 ? value(at) : 0.5 * value(at - 1) - value(at + 1) / 3.0;
  });
  auto const inner = range(1, -1), before = range(0, -2), after = from(2);
  auto v = u;
  v(inner) = 0.5 * u(before) - u(after) / 3.0;
  CHECK(hash(v) == hash(expected));
  auto const other = explain([&] { v(inner) = 0.5 * u(before) - u(after) / 3.0; });
  auto const in_place = explain([&] { v(inner) = 0.5 * v(inner); });
  auto const called = explain([&] { v(inner) = sqrt(u(inner)); });
  auto const same = explain([&] { u(inner) = 0.5 * u(before) - u(after) / 3.0; });
  CHECK(hash(u) == hash(expected));
#ifdef __AVX2__
  // A process says what its own devices do.
  bool const has_cells =
      engine().job().is_local(DeviceId(0)) || engine().job().is_local(DeviceId(1));
  CHECK(is_non_temporal(other) == has_cells);
  CHECK(is_non_temporal(same) == has_cells);  // the second buffer
#else
  MESSAGE(
      "compiled for processors without vectors of 32 bytes: nothing is written past the caches");
#endif
  CHECK_FALSE(is_non_temporal(in_place));
  CHECK_FALSE(is_non_temporal(called));
  v = u;
  CHECK(hash(v) == hash(expected));
}

TEST_CASE("a long row of fused products is written past the caches, too") {
  auto const devices = std::min<std::int64_t>(device_count(), 2);
  auto const n = devices * (std::int64_t{1} << 21) + 5;
  auto const value = [](std::int64_t i) { return 1.0 / static_cast<double>(i + 3); };
  auto const u = from_index<double>({n}, test::over(devices), [&](auto i) { return value(i[0]); });
  auto const expected = from_index<double>({n}, test::over(devices), [&](auto i) {
    auto const at = i[0];
    if (at == 0 || at == n - 1) return value(at);
    auto const difference = std::fma(0.3, value(at - 1), -(value(at) * value(at + 1)));
    return std::fma(-value(at + 1), 0.7, difference);
  });
  auto const inner = range(1, -1), before = range(0, -2), after = from(2);
  auto v = u;

  auto const said =
      explain([&] { v(inner) = contract(0.3 * u(before) - u(inner) * u(after) - u(after) * 0.7); });

  CHECK(hash(v) == hash(expected));
#if defined(__AVX2__) && defined(__FMA__)
  bool const has_cells =
      engine().job().is_local(DeviceId(0)) || engine().job().is_local(DeviceId(1));
  CHECK(is_non_temporal(said) == has_cells);
#endif
}

TEST_SUITE_END();
