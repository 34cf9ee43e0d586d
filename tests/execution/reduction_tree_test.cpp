#include "src/execution/reduction_tree.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("execution/trees");

namespace {

using Nodes = std::vector<std::int64_t>;

}  // namespace

//        0
//     1  2  4
//        3  5 6
//             7
TEST_CASE("the neighbours of eight nodes") {
  CHECK_FALSE(neighbours_in_tree(0, 8).parent);
  CHECK(neighbours_in_tree(0, 8).children == Nodes{1, 2, 4});
  CHECK(neighbours_in_tree(6, 8).parent == 4);
  CHECK(neighbours_in_tree(6, 8).children == Nodes{7});
  CHECK(neighbours_in_tree(7, 8).parent == 6);
  CHECK(neighbours_in_tree(7, 8).children.empty());
}

TEST_CASE("one node has no neighbours") {
  CHECK_FALSE(neighbours_in_tree(0, 1).parent);
  CHECK(neighbours_in_tree(0, 1).children.empty());
}

TEST_CASE("parents and children of any number of nodes agree") {
  for (std::int64_t count = 1; count <= 40; ++count) {
    CAPTURE(count);
    std::int64_t links = 0;
    for (std::int64_t node = 0; node < count; ++node) {
      auto const neighbours = neighbours_in_tree(node, count);
      for (auto const child : neighbours.children)
        CHECK(neighbours_in_tree(child, count).parent == node);
      links += std::ssize(neighbours.children);
      if (!neighbours.parent) continue;
      CHECK(std::ranges::count(neighbours_in_tree(*neighbours.parent, count).children, node) == 1);
    }
    CHECK(links == count - 1);
  }
}

TEST_CASE("a tree of a million nodes is twenty links high, and no node has more neighbours") {
  std::int64_t const count = 1'000'000;
  for (std::int64_t const node : {0, 1, 524'287, 524'288, 999'999}) {
    CAPTURE(node);
    CHECK(neighbours_in_tree(node, count).children.size() <= 20);
    int height = 0;
    for (auto at = neighbours_in_tree(node, count).parent; at;
         at = neighbours_in_tree(*at, count).parent)
      ++height;
    CHECK(height <= 20);
  }
}

TEST_SUITE_END();
