#include "src/runtime/array_allocator.hpp"

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/plan/ghost.hpp"

#include "support/runtime_parts.hpp"

using namespace tessera;
using test::RuntimeParts;

TEST_SUITE_BEGIN("runtime/array_allocator");

namespace {

std::shared_ptr<Layout const> layout_on(std::int64_t devices, std::int64_t cells) {
  return std::make_shared<Layout const>(NamedSharding(Mesh({{"x", devices}}), P("x")),
                                        Shape{cells});
}

}  // namespace

TEST_CASE("arrays and scalars are numbered together, also those that serve again") {
  RuntimeParts parts(2);
  CHECK(parts.arrays.make_array(layout_on(2, 10), 8)->number() == 1);
  CHECK(parts.arrays.make_scalar()->number() == 2);
  CHECK(parts.arrays.make_array(layout_on(2, 10), 8)->number() == 3);
}

TEST_CASE("a mesh with a device that the job lacks is refused, and takes no number") {
  RuntimeParts parts(2);
  CHECK_THROWS_WITH_AS((void)parts.arrays.make_array(layout_on(3, 10), 8),
                       "the mesh names device 2 but the job has 2 devices, 0 to 1; ask "
                       "device_count() or start more processes",
                       ShardingError);
  CHECK(parts.arrays.make_array(layout_on(2, 10), 8)->number() == 1);
}

TEST_CASE("the pools' own references are not counted") {
  RuntimeParts parts(1);
  auto const array = parts.arrays.make_array(layout_on(1, 10), 8);
  auto const other = array;
  auto const scalar = parts.arrays.make_scalar();

  CHECK(parts.arrays.reference_count(array) == 2);
  CHECK(parts.arrays.reference_count(scalar) == 1);
}

TEST_CASE("ghost cells grow to what is asked for, and never shrink") {
  RuntimeParts parts(2);
  auto const array = parts.arrays.make_array(layout_on(2, 10), 8);
  auto wide = GhostWidths::none(1);
  wide.below[0] = 2;
  auto narrow = GhostWidths::none(1);
  narrow.below[0] = 1;

  parts.arrays.grow_ghost_cells(*array, wide);
  parts.arrays.grow_ghost_cells(*array, narrow);

  CHECK(array->widths().covers(wide));
}

TEST_CASE("any address of the host can hold cells of its devices") {
  RuntimeParts parts(2);
  std::byte here{};
  CHECK(parts.arrays.is_reachable(DeviceId{1}, &here));
}

TEST_SUITE_END();
