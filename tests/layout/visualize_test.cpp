#include "tessera/layout/visualize.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("layout/visualize");

namespace {

// The picture without its first line, which is the layout itself.
std::string picture(NamedSharding const& sharding, Shape const& shape) {
  auto const whole_text = visualize(Layout(sharding, shape));
  return '\n' + whole_text.substr(whole_text.find('\n') + 1);
}

Mesh row(std::int64_t devices) {
  return Mesh({{"x", devices}});
}

}  // namespace

TEST_CASE("one dimension is a bar of cells with devices and bounds") {
  CHECK(visualize(Layout(NamedSharding(row(4), P("x")), {10})) ==
        R"(Layout((10,), NamedSharding(Mesh(x=4), P("x")))
0     3     6   8   10
|  0  |  1  | 2 | 3 |
)");
}

TEST_CASE("devices without cells are counted below the bar") {
  CHECK(picture(NamedSharding(row(8), P("x")), {3}) == R"(
0   1   2   3
| 0 | 1 | 2 |
5 devices hold no cells
)");
  CHECK(picture(NamedSharding(row(3), P("x"), Cut::explicit_sizes({2, 0, 1})), {3}) == R"(
0   2   3
| 0 | 2 |
1 device holds no cells
)");
  CHECK(picture(NamedSharding(row(3), P("x")), {0}) == R"(
3 devices hold no cells
)");
}

TEST_CASE("copies are written together, many of them in short") {
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("y")), {4}) == R"(
0     2     4
| 0,2 | 1,3 |
)");
  CHECK(picture(NamedSharding(row(6), P(none)), {4}) == R"(
0             4
| 0,1,2,3,... |
)");
}

TEST_CASE("two dimensions are a grid of devices with row and column bounds") {
  Mesh const mesh({4, 6, 0, 2, 7, 3, 1, 5}, {4, 2}, {"data", "model"});

  CHECK(picture(NamedSharding(mesh, P("data", "model")), {4, 12}) == R"(
      0:6   6:12
    +-----+------+
0:1 |  4  |  6   |
    +-----+------+
1:2 |  0  |  2   |
    +-----+------+
2:3 |  7  |  3   |
    +-----+------+
3:4 |  1  |  5   |
    +-----+------+
)");
}

TEST_CASE("rows and columns without cells are left out of the grid") {
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 4}}), P(none, "y"), Cut::ceil()), {4, 5}) == R"(
      0:2   2:4   4:5
    +-----+-----+-----+
0:4 | 0,4 | 1,5 | 2,6 |
    +-----+-----+-----+
2 devices hold no cells
)");
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("x", "y")), {4, 0}) == R"(
4 devices hold no cells
)");
}

TEST_CASE("any other number of dimensions is a line per device") {
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("x", "y", none)), {2, 1, 3}) == R"(
device 0: [0:1, 0:1, 0:3]
device 1: no cells
device 2: [1:2, 0:1, 0:3]
device 3: no cells
)");
  CHECK(picture(NamedSharding(row(2), P()), {}) == R"(
device 0: []
device 1: []
)");
}

TEST_CASE("of many pieces the first and the last are shown, whatever their number") {
  auto const bar = picture(NamedSharding(row(1'000'000), P("x")), {2'000'000});
  CHECK(bar.size() < 300);
  CHECK(bar.find("| 7 | ... | 999992 |") != std::string::npos);
  CHECK(bar.find("| 8 |") == std::string::npos);

  Mesh const square({{"x", 1000}, {"y", 1000}});
  auto const grid = picture(NamedSharding(square, P("x", "y")), {3000, 3000});
  CHECK(grid.size() < 4500);
  CHECK(grid.find(" 6:9 |  2000  |  2001  |  2002  |  2003  | ... |   2996    |") !=
        std::string::npos);

  auto const list = picture(NamedSharding(square, P("x", "y", none)), {3000, 3000, 2});
  CHECK(list.find("device 31: [0:3, 93:96, 0:2]\n... and 999968 devices more\n") !=
        std::string::npos);
}

TEST_CASE("a long bar is scaled down to its text and a line") {
  auto const bar = picture(NamedSharding(row(2), P("x")), {1'000'000'000'000});

  CHECK(bar == R"(
0                               500000000000                    1000000000000
|               0               |               1               |
)");
}

TEST_SUITE_END();
