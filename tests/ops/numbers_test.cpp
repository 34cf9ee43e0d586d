#include <complex>

#include <doctest/doctest.h>
#include <tessera/tessera.hpp>

#include "support/noted_numbers.hpp"

namespace ts = tessera;
using ts::test::check_is_steady;
using ts::test::hash_of;

TEST_SUITE_BEGIN("ops/numbers");

namespace {

ts::NamedSharding rows() {
  return {ts::Mesh({{"x", ts::device_count()}}), ts::P("x", ts::none)};
}

}  // namespace

TEST_CASE("the numbers of reductions are told apart") {
  auto const u = ts::iota<double>({11, 3}, rows());
  auto const differ = [](auto const& statement) {
    check_is_steady([&] { statement(2.0); });
    CHECK(hash_of([&] { statement(2.0); }) != hash_of([&] { statement(3.0); }));
  };

  differ([&](double x) { (void)ts::sum(u * x); });
  differ([&](double x) { (void)ts::max(u - x); });
  differ([&](double x) { (void)ts::sum(u * x, ts::axis(0)); });
  differ([&](double x) { (void)ts::mean(u * x, ts::axis(1)); });
  differ([&](double x) { (void)ts::argmax(u * x); });
  differ([&](double x) { (void)ts::any(u > x, ts::axis(0)); });
}

TEST_CASE("reductions along dimensions have the same numbers each time") {
  auto const u = ts::iota<float>({11, 3}, rows());
  auto const c = ts::full<std::complex<double>>({11, 3}, {1, 2}, rows());

  check_is_steady([&] { (void)ts::sum(u, ts::axis(0)); });
  check_is_steady([&] { (void)ts::prod(u, ts::axis(0)); });
  check_is_steady([&] { (void)ts::min(u, ts::axis(0)); });
  check_is_steady([&] { (void)ts::argmin(u, ts::axis(0)); });
  check_is_steady([&] { (void)ts::var(u, ts::axis(0)); });
  check_is_steady([&] { (void)ts::all(u > 1.0F, ts::axis(0)); });
  check_is_steady([&] { (void)ts::sum(c, ts::axis(0)); });
}

TEST_SUITE_END();
