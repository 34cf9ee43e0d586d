#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"
#include "tessera/layout/visualize.hpp"

#include "src/base/text.hpp"

#include "support/odd_locale.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("layout/svg");

namespace {

std::int64_t occurrences(std::string const& of, std::string const& in) {
  std::int64_t count = 0;
  for (auto at = in.find(of); at != std::string::npos; at = in.find(of, at + 1)) ++count;
  return count;
}

// True if every element that opens is closed, in order, and the text holds no bare angle brackets.
bool is_well_formed(std::string const& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    auto const end = xml.find('>', at);
    if (end == std::string::npos || xml.find('<', at + 1) < end) return false;
    auto const inside = xml.substr(at + 1, end - at - 1);
    auto const name = inside.substr(0, inside.find_first_of(" \n"));
    if (name[0] == '/') {
      if (open.empty() || open.back() != name.substr(1)) return false;
      open.pop_back();
    } else if (inside.back() != '/') {
      open.push_back(name);
    }
    if (occurrences("\"", inside) % 2 != 0) return false;
  }
  return open.empty() && xml.starts_with("<svg ");
}

Mesh row(std::int64_t devices) {
  return Mesh({{"x", devices}});
}

// Every box with cells is there once, with its devices; nothing else is a box.
void check_boxes(Layout const& layout, std::int64_t boxes) {
  auto const picture = visualize_svg(layout);
  CAPTURE(picture);
  CHECK(is_well_formed(picture));
  CHECK(occurrences("<title>device ", picture) == boxes);
  for (std::int64_t p = 0; p < layout.mesh().size(); ++p) {
    for (auto const& box : layout.boxes_of(layout.mesh().device_at(p)))
      if (!box.empty()) CHECK(occurrences(text(": ", box, "</title>"), picture) == 1);
  }
}

}  // namespace

TEST_CASE("a bar has a rectangle for each box, as wide as its share") {
  Layout const layout(NamedSharding(row(4), P("x")), {10});
  auto const picture = visualize_svg(layout);

  check_boxes(layout, 4);
  // 3, 3, 2 and 2 of 10 cells on 624 pixels.
  CHECK(occurrences(R"(width="187.20")", picture) == 2);
  CHECK(occurrences(R"(width="124.80")", picture) == 2);
  CHECK(picture.find("<title>device 0: [0:3]</title>") != std::string::npos);
  CHECK(picture.find("<title>device 3: [8:10]</title>") != std::string::npos);
}

TEST_CASE("a device with several boxes has a rectangle for each, all of its colour") {
  Layout const layout(NamedSharding(row(2), P("x"), Cut::cyclic(3)), {10});
  auto const picture = visualize_svg(layout);

  check_boxes(layout, 4);
  CHECK(occurrences("<title>device 0: ", picture) == 2);
  CHECK(occurrences("<title>device 1: ", picture) == 2);
}

TEST_CASE("devices without cells have no rectangle, and copies share one") {
  check_boxes(Layout(NamedSharding(row(8), P("x")), {3}), 3);
  check_boxes(Layout(NamedSharding(row(3), P("x"), Cut::explicit_sizes({2, 0, 1})), {3}), 2);
  check_boxes(Layout(NamedSharding(row(3), P("x")), {0}), 0);
  check_boxes(Layout(NamedSharding(row(1), P("x")), {5}), 1);

  auto const copies = visualize_svg(Layout(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("y")), {4}));
  CHECK(copies.find("<title>device 0,2: [0:2]</title>") != std::string::npos);
  CHECK(occurrences("<title>device ", copies) == 2);
  auto const partials = visualize_svg(Layout(NamedSharding(row(2), P(none).partial("x")), {4}));
  CHECK(partials.find("<title>device 0,1: [0:4]</title>") != std::string::npos);
  CHECK(partials.find(".partial(") != std::string::npos);
  auto const many = visualize_svg(Layout(NamedSharding(row(6), P(none)), {4}));
  CHECK(many.find("device 0,1,2,3,...: [0:4]") != std::string::npos);
}

TEST_CASE("a plane is a grid, three dimensions are slabs beside each other") {
  Mesh const grid({4, 6, 0, 2, 7, 3, 1, 5}, {4, 2}, {"data", "model"});
  check_boxes(Layout(NamedSharding(grid, P("data", "model")), {5, 12}), 8);
  check_boxes(Layout(NamedSharding(grid, P("model", "data")), {3, 2}), 4);
  check_boxes(Layout(NamedSharding(grid, P("data", "model")), {1'000'000, 2}), 8);
  check_boxes(Layout(NamedSharding(grid, P("data", "model")), {4, 0}), 0);

  Mesh const cube({{"x", 2}, {"y", 2}, {"z", 2}});
  check_boxes(Layout(NamedSharding(cube, P("x", "y", "z")), {5, 3, 7}), 8);
  check_boxes(Layout(NamedSharding(cube, P("x", none, "z")), {5, 3, 1}), 2);
}

TEST_CASE("what cannot be drawn is refused") {
  Mesh const four({{"x", 2}, {"y", 2}});
  CHECK_THROWS_AS((void)visualize_svg(Layout(NamedSharding(four, P()), {})), ShapeError);
  CHECK_THROWS_AS(
      (void)visualize_svg(Layout(NamedSharding(four, P("x", "y", none, none)), {2, 2, 2, 2})),
      ShapeError);
  CHECK_THROWS_AS((void)visualize_svg(Layout(NamedSharding(row(1'000'000), P("x")), {2'000'000})),
                  UsageError);
}

TEST_CASE("a picture is saved to a file, or says why not") {
  Layout const layout(NamedSharding(row(2), P("x")), {5});
  std::string const path = "svg_test_picture.svg";

  save_svg(path, layout);
  std::ifstream file(path);
  std::string const written{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());

  CHECK(written == visualize_svg(layout));
  CHECK_THROWS_AS(save_svg("no such folder/picture.svg", layout), Error);
}

TEST_CASE("a picture is the same whatever locale the program has set") {
  Layout const layout(NamedSharding(row(3), P("x", none)), {5'000, 70'000});
  auto const picture = visualize_svg(layout);
  std::string const path = "svg_test_odd_picture.svg";

  test::OddLocale const odd;
  save_svg(path, layout);
  std::ifstream file(path);
  std::string const written{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());

  CHECK(visualize_svg(layout) == picture);
  CHECK(written == picture);
}

TEST_SUITE_END();
