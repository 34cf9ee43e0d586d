#include "src/execution/pairs/row_access.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("execution/row_access");

namespace {

/// An access to `rows` rows, from number `row` on, of an array at address 8000 with rows of 10
/// doubles. It touches `cells` doubles of each row, from `column` on.
RowAccess rows_from(std::int64_t row, std::int64_t rows, std::int64_t column = 0,
                    std::int64_t cells = 10) {
  return {8000 + 80 * row + 8 * column, 80, 8 * cells, rows, false};
}

RowAccess written(RowAccess access) {
  access.writes = true;
  return access;
}

std::optional<std::int64_t> skew(std::vector<RowAccess> const& first,
                                 std::vector<RowAccess> const& second) {
  return skew_between(first, second);
}

constexpr RowAccess elsewhere{100'000, 80, 80, 6, true};

}  // namespace

TEST_CASE("a row is what has one index along the first dimension") {
  // Planes of 3 x 4 doubles in an array of 5 x 6 a plane.
  CHECK(access_of_rows({1000, 8}, {7, 3, 4}, {30, 6, 1}) ==
        RowAccess{1000, 240, 2 * 48 + 4 * 8, 7, false});
  // One cell of a vector.
  CHECK(access_of_rows({1000, 4}, {7}, {2}) == RowAccess{1000, 8, 4, 7, false});
  // Columns that are read backwards begin at the last one.
  CHECK(access_of_rows({1000, 8}, {7, 4}, {10, -1}) == RowAccess{976, 80, 32, 7, false});
  // The same row for all indices.
  CHECK(access_of_rows({1000, 8}, {7, 4}, {0, 1}) == RowAccess{1000, 0, 32, 7, false});
}

TEST_CASE("rows that are read backwards have the last one's bytes as their lowest") {
  auto const access = access_of_rows({1000, 8}, {3, 4}, {-10, 1});
  CHECK(access.lowest() == 1000 - 160);
  CHECK(access.past() == 1000 + 32);
}

TEST_CASE("a block has the rows of the dimension with the given stride, else one row") {
  StridedBlock const column{{6}, {80}, 16, 8};
  CHECK(access_of_block(1000, column, 80) == RowAccess{1016, 80, 8, 6, false});
  CHECK(access_of_block(1000, column, 40) == RowAccess{1016, 0, 5 * 80 + 8, 1, false});
  StridedBlock const row{{}, {}, 16, 80};
  CHECK(access_of_block(1000, row, 80) == RowAccess{1016, 0, 80, 1, false});
}

TEST_CASE("accesses are apart in other memory, and in other columns of the same rows") {
  CHECK(are_apart(rows_from(0, 3), rows_from(3, 3)));
  CHECK_FALSE(are_apart(rows_from(0, 3), rows_from(2, 3)));
  CHECK(are_apart(rows_from(0, 3, 0, 4), rows_from(0, 3, 4, 6)));
  CHECK(are_apart(rows_from(0, 3, 4, 6), rows_from(0, 3, 0, 4)));
  CHECK_FALSE(are_apart(rows_from(0, 3, 0, 5), rows_from(0, 3, 4, 6)));
  CHECK_FALSE(are_apart(rows_from(0, 3, 4, 6), rows_from(0, 3, 0, 5)));
  // The ghost cell behind row 0 lies before row 1.
  CHECK(are_apart(rows_from(0, 3, 0, 9), RowAccess{8072, 80, 8, 3, false}));
  // A row of the ghost cells above.
  CHECK(are_apart(rows_from(0, 3), RowAccess{7920, 0, 80, 1, false}));
}

TEST_CASE("a row is read after it is written") {
  auto const target = written(rows_from(0, 6));
  CHECK(skew({target}, {elsewhere, rows_from(0, 6)}) == 0);
  CHECK(skew({target}, {elsewhere, rows_from(1, 5)}) == 1);
  CHECK(skew({target}, {elsewhere, rows_from(2, 4)}) == 2);
  // Cells of earlier rows are there already.
  CHECK(skew({target}, {elsewhere, rows_from(-1, 6)}) == 0);
}

TEST_CASE("a row is written after it has been read") {
  // Row q is computed from rows q - 2 to q + 2; row r is written.
  std::vector<RowAccess> const star{elsewhere,       rows_from(0, 6), rows_from(1, 6),
                                    rows_from(2, 6), rows_from(3, 6), rows_from(4, 6)};
  CHECK(skew(star, {written(rows_from(2, 6))}) == 2);
  CHECK(skew({elsewhere, rows_from(2, 6)}, {written(rows_from(2, 6))}) == 0);
}

TEST_CASE("a row that both write ends with what the second one writes") {
  CHECK(skew({written(rows_from(0, 6))}, {written(rows_from(3, 3))}) == 3);
  CHECK(skew({written(rows_from(3, 3))}, {written(rows_from(0, 6))}) == 0);
}

TEST_CASE("a row that begins a cell later reaches into the next one") {
  auto const target = written(rows_from(0, 6, 0, 9));
  CHECK(skew({target}, {elsewhere, rows_from(0, 5, 1, 9)}) == 0);
  CHECK(skew({target}, {elsewhere, rows_from(0, 5, 2, 9)}) == 1);
}

TEST_CASE("what both only read needs no distance") {
  CHECK(skew({elsewhere, rows_from(0, 6)},
             {RowAccess{200'000, 80, 80, 6, true}, rows_from(4, 2)}) == 0);
}

TEST_CASE("there is no distance for other strides, and for rows that go backwards or stand still") {
  auto const target = written(rows_from(0, 6));
  CHECK_FALSE(skew({target}, {elsewhere, RowAccess{8000, 160, 80, 3, false}}));
  CHECK_FALSE(skew({target}, {elsewhere, RowAccess{8400, -80, 80, 6, false}}));
  CHECK_FALSE(skew({target}, {elsewhere, RowAccess{8000, 0, 80, 6, false}}));
  auto const backwards = written(RowAccess{8400, -80, 80, 6, false});
  CHECK_FALSE(skew({backwards}, {elsewhere, RowAccess{8400, -80, 80, 6, false}}));
}

TEST_CASE("memory that several accesses touch counts once in the bytes of a row") {
  std::vector<RowAccess> const accesses{rows_from(0, 6), rows_from(1, 6), elsewhere,
                                        RowAccess{300'000, 0, 80, 6, false}};
  CHECK(bytes_of_a_row(accesses) == 160);
}

TEST_SUITE_END();
