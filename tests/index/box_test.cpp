#include "src/index/box.hpp"

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("index/box");

TEST_CASE("a box knows its extents and its cells") {
  Box const box{{1, 4}, {3, 9}};

  CHECK(box.rank() == 2);
  CHECK(box.extents() == Shape{2, 5});
  CHECK(box.cells() == 10);
  CHECK_FALSE(box.empty());
  CHECK(whole({2, 5}) == Box{{0, 0}, {2, 5}});
}

TEST_CASE("a box that ends where it begins, or before, is empty") {
  CHECK(Box{{1, 4}, {3, 4}}.empty());
  CHECK(Box{{1, 4}, {3, 2}}.empty());
  CHECK(Box{{1, 4}, {3, 2}}.cells() == 0);
  CHECK(Box{{1, 4}, {3, 2}}.extents() == Shape{2, 0});
  CHECK(whole({3, 0}).empty());
}

TEST_CASE("all empty boxes of one rank are equal") {
  CHECK(Box{{1, 4}, {3, 2}} == Box{{7, 7}, {7, 9}});
  CHECK(Box::none(2) == Box{{7, 7}, {7, 9}});
  CHECK(Box::none(2) != Box::none(1));
  CHECK(Box{{0}, {3}} != Box{{0}, {0}});
}

TEST_CASE("a box of no dimensions is one cell, unless it is nothing") {
  Box const one{};

  CHECK_FALSE(one.empty());
  CHECK(one.cells() == 1);
  CHECK(one.contains(Index{}));
  CHECK(whole({}) == one);

  CHECK(Box::none(0).empty());
  CHECK(Box::none(0).cells() == 0);
  CHECK_FALSE(Box::none(0).contains(Index{}));
  CHECK_FALSE(Box::none(0).contains(one));
  CHECK(one.contains(Box::none(0)));
  CHECK(Box::none(0) != one);
  CHECK(intersect(one, Box::none(0)).empty());
  CHECK(intersect(one, one) == one);
  CHECK(hull(one, Box::none(0)) == one);
  CHECK(hull(Box::none(0), Box::none(0)).empty());
}

TEST_CASE("a box contains its cells and the boxes within it") {
  Box const box{{1, 4}, {3, 9}};

  CHECK(box.contains(Index{1, 4}));
  CHECK(box.contains(Index{2, 8}));
  CHECK_FALSE(box.contains(Index{3, 4}));
  CHECK_FALSE(box.contains(Index{0, 4}));
  CHECK(box.contains(box));
  CHECK(box.contains(Box{{2, 5}, {3, 8}}));
  CHECK_FALSE(box.contains(Box{{2, 5}, {4, 8}}));
  CHECK_FALSE(box.contains(Box{{2, 3}, {3, 8}}));
  CHECK(box.contains(Box{{90, 90}, {90, 90}}));
}

TEST_CASE("two boxes meet in a box and are held by a box") {
  Box const a{{0, 0}, {4, 4}};
  Box const b{{2, 3}, {6, 9}};
  Box const far{{4, 0}, {5, 4}};

  CHECK(intersect(a, b) == Box{{2, 3}, {4, 4}});
  CHECK(intersects(a, b));
  CHECK_FALSE(intersects(a, far));
  CHECK(hull(a, b) == Box{{0, 0}, {6, 9}});
  CHECK(hull(a, Box::none(2)) == a);
  CHECK(hull(Box::none(2), a) == a);
}

TEST_CASE("a box can be shifted and grown") {
  Box const box{{1, 4}, {3, 9}};

  CHECK(box.shifted({-2, 10}) == Box{{-1, 14}, {1, 19}});
  CHECK(grown(box, {1, 0}, {2, 3}) == Box{{0, 4}, {5, 12}});
}

TEST_CASE("a box prints as slices of Python") {
  CHECK(text(Box{{0, 2}, {4, 8}}) == "[0:4, 2:8]");
  CHECK(text(Box{{-1}, {4}}) == "[-1:4]");
  CHECK(text(Box{}) == "[]");
  CHECK(text(Box::none(0)) == "[nothing]");
  CHECK(text(Box::none(1)) == "[0:0]");
}

TEST_SUITE_END();
