#include "tessera/array/slice.hpp"

#include <doctest/doctest.h>

#include "src/base/text.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::Mirror;
using test::over;

/// What a slice shows, also backwards, with new dimensions, and of another slice.
TEST_SUITE_BEGIN("array/slice");

namespace {

using Integers = std::vector<std::int64_t>;

std::int64_t count_of(Range const& range, std::int64_t extent) {
  return range.resolve(extent).count;
}

Mirror<std::int64_t> counted(Shape const& shape) {
  std::int64_t next = 0;
  return Mirror<std::int64_t>::made_of(shape, [&](Index const&) { return next++; });
}

}  // namespace

TEST_CASE("negative steps walk backwards by Python's rules") {
  for (std::int64_t const devices : {1, 3, 8}) {
    auto const u = iota<std::int64_t>({10}, over(devices));

    CHECK_ALL(u(range(none, none, -1)).to_host() == Integers{9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
    CHECK_ALL(u(range(8, 2, -3)).to_host() == Integers{8, 5});
    CHECK_ALL(u(range(-2, none, -4)).to_host() == Integers{8, 4, 0});
    CHECK_ALL(u(range(2, 8, -1)).to_host().empty());
    CHECK_ALL(u(range(3, none, -100)).to_host() == Integers{3});
  }
}

TEST_CASE("any range of any extent shows what a list of positions says") {
  for (std::int64_t const extent : {0, 1, 2, 5, 11}) {
    auto const u = iota<std::int64_t>({extent}, over(4));
    for (std::int64_t const begin : {-7, -1, 0, 1, 4, 20})
      for (std::int64_t const end : {-20, -3, -1, 0, 2, 6})
        for (std::int64_t const step : {-5, -2, -1, 1, 3}) {
          auto const r = range(begin, end, step);
          auto const resolved = r.resolve(extent);
          Integers wanted;
          for (std::int64_t k = 0; k < resolved.count; ++k)
            wanted.push_back(resolved.first + k * resolved.step);
          CHECK_ALL(u(r).to_host() == wanted);
        }
  }
}

TEST_CASE("a new axis has one cell and changes no other") {
  auto const u = iota<std::int64_t>({3, 2}, over(2, 4));

  auto const first = u(newaxis, all, 1);
  auto const between = u(all, newaxis, range(none, none, -1));
  auto const alone = u(1, 1)(newaxis, newaxis);

  CHECK(first.extents() == std::array<std::int64_t, 2>{1, 3});
  CHECK(between.extents() == std::array<std::int64_t, 3>{3, 1, 2});
  CHECK(alone.extents() == std::array<std::int64_t, 2>{1, 1});
  CHECK_ALL(first.to_host() == Integers{1, 3, 5});
  CHECK_ALL(between.to_host() == Integers{1, 0, 3, 2, 5, 4});
  CHECK_ALL(alone.to_host() == Integers{3});
  CHECK_ALL(between(all, range(1, none), all).to_host().empty());
}

TEST_CASE("a slice of a slice is what slicing twice finds") {
  auto const m = counted({6, 9});
  std::vector<Range> const ranges{range(1, -1),        range(none, none, 2), range(none, none, -1),
                                  range(7, 1, -2),     range(2, 2),          range(4, none),
                                  range(none, none, 3)};
  for (auto const& sharding : test::layouts_of_plane(6, 9)) {
    auto const u = test::spread_out<std::int64_t, 2>(m, sharding);
    for (auto const& a : ranges)
      for (auto const& b : ranges) {
        CAPTURE(sharding);
        CAPTURE(a);
        CAPTURE(b);
        auto const once = u(a, b);
        auto const x = a.resolve(6);
        auto const y = b.resolve(9);
        auto const part = m.slice({{x.first, x.step, x.count}, {y.first, y.step, y.count}});
        CHECK_ALL(once.to_host() == part.cells);
        if (part.cells.empty()) continue;
        auto const twice = once(-1, range(none, none, -2));
        auto const rest = range(none, none, -2).resolve(y.count);
        CHECK_ALL(twice.to_host() ==
                  part.slice({{x.count - 1, 1, 1}, {rest.first, rest.step, rest.count}}).cells);
        CHECK_ALL(static_cast<std::int64_t>(once(0, all)(0)) == part.cells[0]);
        CHECK(twice.extents()[0] == count_of(range(none, none, -2), y.count));
      }
  }
}

TEST_CASE("indices are those of the slice, and outside of it there are none") {
  auto const u = iota<std::int64_t>({8}, over(3));
  auto const part = u(range(2, 6));

  CHECK_ALL(static_cast<std::int64_t>(part(-1)) == 5);
  CHECK_ALL_THROW((void)part(4), IndexError);
  CHECK_ALL_THROW((void)part(-5), IndexError);
  CHECK_ALL_THROW((void)u(newaxis, all)(1, 0), IndexError);
}

TEST_SUITE_END();
