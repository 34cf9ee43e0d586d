#include "src/index/index.hpp"

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("index/index");

TEST_CASE("a shape has the product of its extents as cells") {
  CHECK(cells_of({}) == 1);
  CHECK(cells_of({7}) == 7);
  CHECK(cells_of({2, 3, 4}) == 24);
  CHECK(cells_of({2, 0, 4}) == 0);
  CHECK(cells_of({1, 2, 1, 2, 1, 2, 1, 2}) == 16);
}

TEST_CASE("the last dimension of a row-major array is dense") {
  CHECK(row_major_strides({}) == Index{});
  CHECK(row_major_strides({5}) == Index{1});
  CHECK(row_major_strides({2, 3, 4}) == Index{12, 4, 1});
}

TEST_CASE("division rounds down, up, and leaves what has the divisor's sign") {
  CHECK(floor_div(7, 2) == 3);
  CHECK(floor_div(-7, 2) == -4);
  CHECK(floor_div(7, -2) == -4);
  CHECK(floor_div(-7, -2) == 3);
  CHECK(floor_div(-8, 2) == -4);
  CHECK(ceil_div(7, 2) == 4);
  CHECK(ceil_div(-7, 2) == -3);
  CHECK(ceil_div(7, -2) == -3);
  CHECK(ceil_div(-7, -2) == 4);
  CHECK(ceil_div(0, 5) == 0);
  CHECK(floor_mod(7, 3) == 1);
  CHECK(floor_mod(-7, 3) == 2);
  CHECK(floor_mod(7, -3) == -2);
  CHECK(floor_mod(-6, 3) == 0);
}

TEST_CASE("a shape of any extents from zero on is a shape, up to 2^62 cells") {
  CHECK_NOTHROW(check_shape({}));
  CHECK_NOTHROW(check_shape({0, 5}));
  CHECK_NOTHROW(check_shape({std::int64_t{1} << 31, std::int64_t{1} << 31}));
  CHECK_NOTHROW(check_shape({1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_CASE("a shape with a negative extent is refused") {
  CHECK_THROWS_WITH_AS(check_shape({3, -1}),
                       "the shape (3, -1) has a negative extent; extents are 0 or more",
                       ShapeError);
}

TEST_CASE("a shape of another number of dimensions than its array is refused") {
  CHECK_NOTHROW(check_shape({}, 0));
  CHECK_NOTHROW(check_shape({3, 4}, 2));
  CHECK_THROWS_WITH_AS(check_shape({3, 4}, 1),
                       "the shape (3, 4) has 2 dimensions but the array has 1", ShapeError);
  CHECK_THROWS_WITH_AS(check_shape({3}, 0), "the shape (3,) has 1 dimension but the array has none",
                       ShapeError);
  CHECK_THROWS_WITH_AS(check_shape({-1}, 1),
                       "the shape (-1,) has a negative extent; extents are 0 or more", ShapeError);
}

TEST_CASE("a shape with too many cells is refused, even where a zero would hide them") {
  std::int64_t const large = std::int64_t{1} << 32;

  CHECK_THROWS_WITH_AS(check_shape({large, large}),
                       "the shape (4294967296, 4294967296) has more than 2^62 cells", ShapeError);
  CHECK_THROWS_WITH_AS(check_shape({large, 0, large}),
                       "the shape (4294967296, 0, 4294967296) has more than 2^62 cells",
                       ShapeError);
}

TEST_SUITE_END();
