#include "src/index/strided_block.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("index/strided_block");

TEST_CASE("dimensions that continue each other become one, and a run one element") {
  // 4 x 6 x 8 array of 8-byte elements; whole rows of the last two dimensions lie together.
  CHECK(normalized({{4, 6, 8}, {384, 64, 8}, 0, 8}) == StridedBlock{{}, {}, 0, 1536});
  CHECK(normalized({{4, 1, 8}, {384, 64, 8}, 64, 8}) == StridedBlock{{4}, {384}, 64, 64});
  CHECK(normalized({{4, 6, 1}, {384, 64, 8}, 8, 8}) == StridedBlock{{24}, {64}, 8, 8});
  CHECK(normalized({{4, 5, 2}, {384, 64, 8}, 8, 8}) == StridedBlock{{4, 5}, {384, 64}, 8, 16});
  CHECK(normalized({{1, 1}, {999, 8}, 16, 4}) == StridedBlock{{}, {}, 16, 4});
  CHECK(normalized({{6}, {-8}, 40, 8}) == StridedBlock{{6}, {-8}, 40, 8});
}

TEST_CASE("two blocks merge only what continues on both sides") {
  // Dense rows into rows with a gap: the rows stay apart on both sides.
  BlockPair const pair{{{4, 3}, {32, 8}, 0, 8}, {{4, 3}, {24, 8}, 5, 8}};
  CHECK(normalized(pair) == BlockPair{{{4}, {32}, 0, 24}, {{4}, {24}, 5, 24}});

  BlockPair const dense{{{4, 3}, {24, 8}, 1, 8}, {{4, 3}, {24, 8}, 5, 8}};
  CHECK(normalized(dense) == BlockPair{{{}, {}, 1, 96}, {{}, {}, 5, 96}});

  BlockPair const columns{{{4, 3}, {24, 8}, 0, 8}, {{4, 3}, {8, 32}, 0, 8}};
  CHECK(normalized(columns) == columns);
}

TEST_CASE(
    "a copy transposes where elements lie side by side along another dimension on each side") {
  StridedBlock const rows{{8, 9}, {800, 8}, 16, 8};
  StridedBlock const columns{{8, 9}, {8, 640}, 0, 8};

  CHECK(is_transposing(rows, columns));
  CHECK(is_transposing(columns, rows));
  CHECK(is_transposing({{8, 3, 9}, {800, 0, 8}, 0, 8}, {{8, 3, 9}, {8, 80, 640}, 0, 8}));
  CHECK_FALSE(is_transposing(rows, rows));
  CHECK_FALSE(is_transposing(rows, {{8, 9}, {16, 640}, 0, 8}));
  CHECK_FALSE(is_transposing({{9}, {8}, 0, 8}, {{9}, {640}, 0, 8}));
}

TEST_CASE("what fills no lines is not copied in tiles of them") {
  auto const turned = [](std::int64_t n, std::int64_t m, std::int64_t element) {
    return is_transposing({{n, m}, {1000 * element, element}, 0, element},
                          {{n, m}, {element, 1000 * element}, 0, element});
  };

  CHECK(turned(16, 16, 4));
  CHECK_FALSE(turned(15, 16, 4));
  CHECK_FALSE(turned(16, 15, 4));
  CHECK(turned(64, 64, 1));
  CHECK(turned(4, 4, 16));
  CHECK_FALSE(turned(100, 100, 12));
  CHECK_FALSE(turned(100, 100, 32));
}

TEST_CASE("a box of cells lies at the distance of its first cell from the base") {
  // Rows of 10 elements of 8 bytes; the base is cell (2, 3).
  auto const block = strided_block({{4, 3}, {6, 8}}, {2, 3}, {10, 1}, 8);

  CHECK(block == StridedBlock{{2, 5}, {80, 8}, 160, 8});
}

TEST_SUITE_END();
