#include "src/plan/loop_array.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include "tessera/layout/layout.hpp"

#include "support/brute_force.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::Random;

/// How the boxes of a loop's arrays lie beside each other.
TEST_SUITE_BEGIN("plan/loop_array");

namespace {

Mesh mesh_of(std::int64_t devices) {
  return Mesh({{"x", devices}});
}

// What loop_array says of layouts that are cut alike, found device by device; nothing if some
// device has cells of one of them only.
std::optional<LoopArray> by_trying(Layout const& array, Layout const& reference) {
  auto const rank = reference.rank();
  auto const least = std::numeric_limits<std::int64_t>::min();
  LoopArray found{array.shape(),
                  {Index(rank, least), Index(rank, least)},
                  {Index(rank, least), Index(rank, least)}};
  for (std::int64_t p = 0; p < reference.mesh().size(); ++p) {
    auto const device = reference.mesh().device_at(p);
    auto const a = array.box_of(device);
    auto const f = reference.box_of(device);
    for (std::size_t d = 0; d < rank; ++d) {
      if (reference.sharding().ways(d) == 1 || array.shape()[d] == reference.shape()[d]) {
        found.beyond.below[d] = found.beyond.above[d] = 0;
        found.short_of.below[d] = found.short_of.above[d] = 0;
        continue;
      }
      if (a.extent(d) == 0 || f.extent(d) == 0) return std::nullopt;
      auto const raise = [](std::int64_t& most, std::int64_t value) {
        most = std::max(most, value);
      };
      raise(found.beyond.below[d], f.lo[d] - a.lo[d]);
      raise(found.beyond.above[d], a.hi[d] - f.hi[d]);
      raise(found.short_of.below[d], a.lo[d] - f.lo[d]);
      raise(found.short_of.above[d], f.hi[d] - a.hi[d]);
    }
  }
  return found;
}

bool is_equal(LoopArray const& a, LoopArray const& b) {
  return a.shape == b.shape && a.beyond == b.beyond && a.short_of == b.short_of;
}

}  // namespace

TEST_CASE("nine cells beside a reference of eight") {
  NamedSharding const cut(mesh_of(4), P("x"));
  auto const nine = loop_array(Layout(cut, {9}), Layout(cut, {8}));

  REQUIRE(nine.has_value());
  CHECK(nine->shape == Shape{9});
  CHECK(nine->beyond == GhostWidths{{0}, {1}});
  CHECK(nine->short_of == GhostWidths{{1}, {-1}});
}

TEST_CASE("cuts by a formula are measured as device by device") {
  Random random(test::seed_of_all(7));
  std::int64_t measured = 0;
  for (std::int64_t round = 0; round < 2000; ++round) {
    auto const kind = random.between(0, 2);
    auto const rule = kind == 0   ? Cut::balanced()
                      : kind == 1 ? Cut::ceil()
                                  : Cut::unit(random.between(1, 3));
    NamedSharding const cut(Mesh({{"x", random.between(1, 5)}, {"y", random.between(1, 3)}}),
                            P("x", "y"), rule);
    Layout const reference(cut, {random.between(0, 20), random.between(0, 20)});
    Layout const array(cut, {random.between(0, 20), random.between(0, 20)});
    auto const found = loop_array(array, reference);
    auto const truth = by_trying(array, reference);
    CAPTURE(array);
    CAPTURE(reference);
    REQUIRE(found.has_value() == truth.has_value());
    if (!found) continue;
    CHECK(is_equal(*found, *truth));
    ++measured;
  }
  CHECK(measured > 500);
}

TEST_CASE("arrays that are cut by other axes or rules cannot be measured") {
  auto const mesh = Mesh({{"x", 2}, {"y", 2}});
  Layout const reference(NamedSharding(mesh, P("x", none)), {8, 8});

  CHECK_FALSE(loop_array(Layout(NamedSharding(mesh, P("y", none)), {8, 8}), reference));
  CHECK_FALSE(loop_array(Layout(NamedSharding(mesh, P(none, "x")), {8, 8}), reference));
  CHECK_FALSE(
      loop_array(Layout(NamedSharding(mesh, P("x", none), Cut::ceil()), {9, 8}), reference));
  CHECK_FALSE(loop_array(Layout(NamedSharding(mesh_of(2), P("x", none)), {8, 8}), reference));
  CHECK_FALSE(loop_array(Layout(NamedSharding(mesh, P("x")), {8}), reference));
}

TEST_CASE("an array that lies whole on every device needs no measuring") {
  auto const mesh = mesh_of(3);
  Layout const reference(NamedSharding(mesh, P("x")), {8});
  auto const whole = loop_array(Layout(NamedSharding(mesh, P(none)), {100}), reference);

  REQUIRE(whole.has_value());
  CHECK(whole->beyond == GhostWidths::none(1));
  CHECK(whole->short_of == GhostWidths::none(1));
}

TEST_CASE("a dimension that is not cut may have any extent") {
  NamedSharding const cut(mesh_of(2), P("x", none));
  auto const flat = loop_array(Layout(cut, {8, 1}), Layout(cut, {8, 1000}));

  REQUIRE(flat.has_value());
  CHECK(flat->short_of == GhostWidths::none(2));
}

TEST_CASE("a device with cells of one array only cannot be measured") {
  NamedSharding const cut(mesh_of(8), P("x"));
  CHECK_FALSE(loop_array(Layout(cut, {8}), Layout(cut, {7})));
  CHECK_FALSE(loop_array(Layout(cut, {7}), Layout(cut, {8})));
  CHECK(loop_array(Layout(cut, {7}), Layout(cut, {7})));
  CHECK(loop_array(Layout(cut, {9}), Layout(cut, {8})));
}

TEST_SUITE_END();
