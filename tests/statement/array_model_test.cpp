#include "src/statement/array_model.hpp"

#include <cstdint>
#include <memory>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/plan/ghost.hpp"

#include "plan/cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::shifted_by;
using test::work_on;

/// How the boxes of any device lie in memory: no memory is asked for.
TEST_SUITE_BEGIN("statement/array_model");

TEST_CASE("the first own cell of every long row lies at the beginning of a line of 64 bytes") {
  auto const padded_layout = PaddedShardLayout::around({{4, 10}, {6, 43}}, {{1, 2}, {0, 1}}, 8);

  CHECK(padded_layout.cells == Box{{3, 8}, {6, 44}});
  CHECK(padded_layout.strides == Index{40, 1});  // 36 cells, padded to a line
  CHECK(padded_layout.offset_of({4, 10}) * 8 % 64 == 0);
  CHECK(padded_layout.offset_of({5, 10}) * 8 % 64 == 0);
  CHECK(padded_layout.lead == 6);
  CHECK(padded_layout.elements == 6 + 3 * 40);
  CHECK(padded_layout.block_of({{4, 10}, {6, 43}}, 8) == StridedBlock{{2, 33}, {320, 8}, 384, 8});
}

TEST_CASE("short rows lie one after another, and no padding takes more than a quarter") {
  for (std::int64_t const element_bytes : {1, 2, 4, 8, 12, 16, 64})
    for (std::int64_t const columns : {1, 2, 3, 5, 8, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000})
      for (std::int64_t const ghosts : {0, 1})
        for (auto const rank : {std::size_t{2}, std::size_t{3}}) {
          CAPTURE(element_bytes);
          CAPTURE(columns);
          Box const own =
              rank == 2 ? Box{{0, 0}, {5000, columns}} : Box{{0, 0, 0}, {200, 7, columns}};
          GhostWidths const widths{Index(rank, ghosts), Index(rank, ghosts)};
          auto const padded_layout = PaddedShardLayout::around(own, widths, element_bytes);
          auto const cells = padded_layout.cells.cells();
          CHECK(padded_layout.elements <= cells + cells / 4);
          if ((columns + 2 * ghosts) * element_bytes < 256)
            CHECK(padded_layout.strides[rank - 2] == columns + 2 * ghosts);
        }
}

TEST_CASE("rows and planes do not lie whole pages apart") {
  auto const strides = [](Box const& own, std::int64_t element_bytes) {
    return PaddedShardLayout::around(own, GhostWidths::none(own.rank()), element_bytes).strides;
  };

  CHECK(strides({{0, 0}, {3, 512}}, 8) == Index{520, 1});
  CHECK(strides({{0, 0}, {3, 511}}, 8) == Index{520, 1});
  CHECK(strides({{0, 0}, {3, 513}}, 8) == Index{520, 1});
  CHECK(strides({{0, 0, 0}, {3, 8, 64}}, 8) == Index{520, 64, 1});
  CHECK(strides({{0, 0, 0}, {3, 512, 512}}, 8) == Index{512 * 520 + 8, 520, 1});
  CHECK(strides({{0}, {512}}, 8) == Index{1});
  CHECK(strides({{0, 0}, {3, 1024}}, 12) == Index{1025, 1});
  CHECK(strides({{0, 0}, {3, 2}}, 4096) == Index{2, 1});
}

TEST_CASE(
    "a buffer of cells alone is dense but for rows and planes that would lie whole pages apart") {
  CHECK(PaddedShardLayout::dense({{2, 3}, {4, 8}}, 8).strides == Index{5, 1});
  CHECK(PaddedShardLayout::dense({{2, 3}, {4, 8}}, 8).elements == 10);
  CHECK(PaddedShardLayout::dense({{0, 0}, {2, 512}}, 8).strides == Index{520, 1});
  CHECK(PaddedShardLayout::dense({{0, 0}, {2, 512}}, 8).elements == 2 * 520);
  CHECK(PaddedShardLayout::dense({{0, 0}, {2, 0}}, 8).elements == 0);
  CHECK(PaddedShardLayout::dense({{}, {}}, 8).elements == 1);
}

TEST_CASE("rows of elements that do not fill lines evenly begin anywhere") {
  auto const padded_layout = PaddedShardLayout::around({{0, 0}, {2, 5}}, GhostWidths::none(2), 12);

  CHECK(padded_layout.strides == Index{5, 1});
  CHECK(padded_layout.elements == 10);
}

TEST_CASE("a shard beyond any memory is refused") {
  std::int64_t const many = std::int64_t{1} << 40;

  CHECK_THROWS_AS((void)PaddedShardLayout::around({{0, 0}, {many, many}}, GhostWidths::none(2), 8),
                  DeviceError);
}

TEST_CASE("every device's boxes have the ghost cells of the array") {
  ArrayModel array(cells_on_devices(10, 3), 8, 7);
  array.set_widths({{1}, {2}});

  auto const boxes = array.boxes_on(DeviceId{1});

  REQUIRE(boxes.size() == 1);
  CHECK(boxes[0].own == Box{{4}, {7}});
  CHECK(boxes[0].padded_layout.cells == Box{{3}, {9}});
  CHECK(array.boxes_on(DeviceId{3}).empty());
  CHECK(describe(array) == "array 7 (10,)");
}

TEST_CASE("a device with several boxes has a frame for each") {
  ArrayModel const array(cells_on_devices(10, 2, Cut::cyclic(2)), 8, 1);

  auto const boxes = array.boxes_on(DeviceId{0});

  REQUIRE(boxes.size() == 3);
  CHECK(boxes[1].own == Box{{4}, {6}});
  CHECK(boxes[1].padded_layout.elements == 2);
}

TEST_CASE("cells that were filled are stale once ghost cells have other widths") {
  auto const layout = cells_on_devices(10, 3);
  ArrayModel array(layout, 8, 1);
  array.halo_validity().note_fill(Fill::make({shifted_by({1})}, work_on(layout, {{0}, {9}})));
  REQUIRE_FALSE(array.halo_validity().empty());

  array.set_widths({{1}, {1}});

  CHECK(array.halo_validity().empty());
}

TEST_SUITE_END();
