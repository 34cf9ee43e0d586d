#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// A caller's mistake throws on every process before anything is sent, and the program can go on.
TEST_SUITE_BEGIN("expr/wrong_use");

namespace {

// Nothing was sent and the same arrays still work.
struct Unharmed {
  DistArray<double, 1> u = iota<double>({6}, over(4));
  DistArray<double, 1> v = iota<double>({5}, over(3));
  DistArray<double, 2> w = iota<double>({4, 6}, over(2, 4));
  Counters before = counters();

  bool still_works() {
    bool const silent = counters() == before;
    u(range(1, none)) = v + 1.0;
    return silent && holds(u, std::vector<double>{0, 1, 2, 3, 4, 5});
  }
};

}  // namespace

TEST_CASE("shapes that do not broadcast") {
  Unharmed a;
  CHECK_ALL_THROW((void)(a.u + a.v), ShapeError);
  CHECK_ALL_THROW((void)(a.w * a.v), ShapeError);
  CHECK_ALL_THROW((void)where(a.u > 0, a.v, 1.0), ShapeError);
  CHECK_ALL_THROW(a.u = 1 * a.v, ShapeError);
  CHECK_ALL_THROW(a.u(range(0, 2)) = a.v, ShapeError);
  CHECK_ALL_THROW(a.w = a.v * 2, ShapeError);
  CHECK_ALL_THROW(a.u(range(2, 2)) = a.v, ShapeError);
  CHECK_ALL_THROW(a.w(tessera::all, 0) = a.w(0, tessera::all), ShapeError);
  CHECK_ALL(a.still_works());
}

TEST_CASE("indices and axes that do not exist") {
  Unharmed a;
  CHECK_ALL_THROW((void)a.u(6), IndexError);
  CHECK_ALL_THROW((void)a.w(tessera::all, -7), IndexError);
  CHECK_ALL_THROW((void)roll(a.w, 1, 2), ShapeError);
  CHECK_ALL_THROW((void)roll(a.w, 1, -3), ShapeError);
  CHECK_ALL_THROW(a.u = a.u + index(1), ShapeError);
  CHECK_ALL_THROW((void)range(0, 1, 0), ShapeError);
  CHECK_ALL(a.still_works());
}

TEST_CASE("shifts with the wrong number of offsets or a boundary periodic at one end") {
  Unharmed a;
  CHECK_ALL_THROW((void)shift(a.w, {1}, periodic), ShapeError);
  CHECK_ALL_THROW((void)shift(a.u, {1, 0}, edge), ShapeError);
  CHECK_ALL_THROW((void)shift(a.w, {1, 0}, {edge, edge, edge}), ShapeError);
  CHECK_ALL_THROW((void)shift(a.u, 1, Boundaries(periodic, edge)), UsageError);
  CHECK_ALL_THROW((void)shift(a.u, 1, Boundaries(constant(0), periodic)), UsageError);
  CHECK_ALL(a.still_works());
}

TEST_CASE("a new array of arrays on two meshes, also if each mesh is one device") {
  for (std::int64_t const devices : {1, 3}) {
    CAPTURE(devices);
    auto const a = iota<double>({6}, {Mesh({{"a", devices}}), P("a")});
    auto const o = iota<double>({6}, {Mesh({{"o", devices}}), P("o")});
    auto const before = counters();

    CHECK_ALL_THROW(DistArray x = a + o, UsageError);
    CHECK_ALL_THROW(DistArray x = o(range(0, 2)) * 2.0 - a(range(1, 3)), UsageError);
    CHECK_ALL_THROW(DistArray x = where(a > 2.0, roll(o, 1), 0.0), UsageError);
    CHECK_ALL(counters() == before);
    CHECK_ALL(holds(DistArray(a + o, over(2)), std::vector<double>{0, 2, 4, 6, 8, 10}));
  }
}

TEST_CASE("more slices than a statement holds") {
  Unharmed a;
  auto const many = [&] {
    auto const x = [&](std::int64_t k) { return shift(a.u, k, periodic); };
    auto const eight = [&](std::int64_t k) {
      return x(k) + x(k + 1) + x(k + 2) + x(k + 3) + x(k + 4) + x(k + 5) + x(k + 6) + x(k + 7);
    };
    auto const half = [&](std::int64_t k) {
      return eight(k) + eight(k + 8) + eight(k + 16) + eight(k + 24);
    };
    a.u = half(0) + half(32) + x(100);
  };
  CHECK_ALL_THROW(many(), UsageError);
  CHECK_ALL(a.still_works());
}

TEST_SUITE_END();
