#include "tessera/index/range.hpp"

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"
#include "tessera/detail/index/shape.hpp"

#include "src/base/text.hpp"

using namespace tessera;
using detail::resolve_index;

TEST_SUITE_BEGIN("index/range");

namespace {

// The positions of a range, as text.
std::string positions(Range const& range, std::int64_t extent) {
  auto const resolved = range.resolve(extent);
  std::vector<std::int64_t> list;
  for (std::int64_t k = 0; k < resolved.count; ++k)
    list.push_back(resolved.first + k * resolved.step);
  return join(list);
}

using End = std::optional<std::int64_t>;

RangeEnd to_end(End end) {
  return end ? RangeEnd(*end) : RangeEnd(none);
}

// What Python says of a[begin:end:step], the slow way: a walk from the first position on, stopped
// by the end and by the edges. A position before the first cell is not one counted from the end.
std::string by_walking(End begin, End end, std::int64_t step, std::int64_t extent) {
  auto const from_end = [&](std::int64_t i) { return i < 0 ? i + extent : i; };
  std::int64_t const before = -1;
  std::int64_t at = step > 0 ? 0 : extent - 1;
  if (begin) at = from_end(*begin);
  if (step > 0 && at < 0) at = 0;
  if (step < 0 && at > extent - 1) at = extent - 1;
  std::int64_t stop = step > 0 ? extent : before;
  if (end) stop = from_end(*end);
  std::vector<std::int64_t> list;
  for (; at >= 0 && at < extent && (step > 0 ? at < stop : at > stop); at += step)
    list.push_back(at);
  return join(list);
}

}  // namespace

TEST_CASE("ranges follow the rules of Python, by hand") {
  CHECK(positions(range(1, -1), 10) == "1, 2, 3, 4, 5, 6, 7, 8");
  CHECK(positions(range(0, none, 3), 10) == "0, 3, 6, 9");
  CHECK(positions(range(1LL, 3U), 10) == "1, 2");
  CHECK(positions(range(8, std::numeric_limits<std::size_t>::max()), 10) == "8, 9");
  CHECK(positions(range(none, none), 4) == "0, 1, 2, 3");
  CHECK(positions(from(2), 5) == "2, 3, 4");
  CHECK(positions(from(-2), 5) == "3, 4");
  CHECK(positions(range(none, 3), 5) == "0, 1, 2");
  CHECK(positions(range(-3, -1), 5) == "2, 3");
  CHECK(positions(range(3, 1), 5).empty());
  CHECK(positions(range(2, 2), 5).empty());
  CHECK(positions(range(1, 100, 2), 6) == "1, 3, 5");
  CHECK(positions(range(-100, 2), 5) == "0, 1");
  CHECK(positions(range(7, 9), 5).empty());
  CHECK(positions(range(0, none), 0).empty());
}

TEST_CASE("ranges run backwards as in Python, by hand") {
  CHECK(positions(range(none, none, -1), 4) == "3, 2, 1, 0");
  CHECK(positions(range(none, none, -2), 5) == "4, 2, 0");
  CHECK(positions(range(3, 0, -1), 5) == "3, 2, 1");
  CHECK(positions(range(3, none, -2), 5) == "3, 1");
  CHECK(positions(range(3, -6, -1), 5) == "3, 2, 1, 0");
  CHECK(positions(range(100, 2, -1), 5) == "4, 3");
  CHECK(positions(range(-2, -4, -1), 5) == "3, 2");
  CHECK(positions(range(1, 3, -1), 5).empty());
  CHECK(positions(range(-100, none, -1), 5).empty());
  CHECK(positions(range(none, -1, -1), 5).empty());
  CHECK(positions(range(none, none, -1), 0).empty());
}

TEST_CASE("every small range of every small extent is what walking finds") {
  std::vector<End> ends{End{}};
  for (std::int64_t i = -7; i <= 7; ++i) ends.emplace_back(i);

  for (std::int64_t extent = 0; extent <= 5; ++extent)
    for (auto const begin : ends)
      for (auto const end : ends)
        for (std::int64_t const step : {-6, -3, -2, -1, 1, 2, 3, 6}) {
          Range const slice(to_end(begin), to_end(end), step);
          CAPTURE(slice);
          CAPTURE(extent);
          REQUIRE(positions(slice, extent) == by_walking(begin, end, step, extent));
        }
}

TEST_CASE("an empty range has count 0 and begins inside the extent or at its edge") {
  auto const resolved = range(7, 2).resolve(5);

  CHECK(resolved == ResolvedRange{5, 1, 0});
}

TEST_CASE("ends as large as a number can be are clamped") {
  auto const largest = std::numeric_limits<std::int64_t>::max();
  auto const smallest = std::numeric_limits<std::int64_t>::min();

  CHECK(positions(range(smallest, largest), 3) == "0, 1, 2");
  CHECK(positions(range(largest, smallest, -1), 3) == "2, 1, 0");
  CHECK(positions(range(1, none, largest), 3) == "1");
  CHECK(positions(range(1, none, -largest), 3) == "1");
  CHECK(positions(range(none, none, smallest), 3) == "2");
}

TEST_CASE("a range of step 0 is refused") {
  CHECK_THROWS_WITH_AS((void)range(0, 5, 0),
                       "a range has step 0; use 1 for every cell or -1 to reverse", ShapeError);
}

TEST_CASE("an integer index counts from the end if negative") {
  CHECK(resolve_index(0, 5, 0) == 0);
  CHECK(resolve_index(4, 5, 0) == 4);
  CHECK(resolve_index(-1, 5, 0) == 4);
  CHECK(resolve_index(-5, 5, 0) == 0);
}

TEST_CASE("an integer index outside the dimension is refused, not clamped") {
  CHECK_THROWS_WITH_AS((void)resolve_index(5, 5, 1),
                       "index 5 is outside dimension 1, which has 5 cells", IndexError);
  CHECK_THROWS_WITH_AS((void)resolve_index(-2, 1, 0),
                       "index -2 is outside dimension 0, which has 1 cell", IndexError);
  CHECK_THROWS_WITH_AS((void)resolve_index(0, 0, 2),
                       "index 0 is outside dimension 2, which has 0 cells", IndexError);
}

TEST_CASE("ranges print as in Python") {
  CHECK(text(range(1, -1)) == "[1:-1]");
  CHECK(text(range(none, none, -1)) == "[::-1]");
  CHECK(text(from(2)) == "[2:]");
  CHECK(text(range(0, none, 3).resolve(10)) == "4 cells from 0 by 3");
}

TEST_SUITE_END();
