#include "src/plan/ghost.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"

#include "support/brute_force.hpp"
#include "support/seeds.hpp"

#include "cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::make_layout;
using test::Random;
using test::shifted_by;
using test::work_on;

TEST_SUITE_BEGIN("plan/ghost");

namespace {

constexpr auto periodic = BoundaryKind::periodic;

std::string widths_text(Layout const& owned, Access const& access, ComputePlacement const& place) {
  auto const widths = ghost_widths_for(owned, access, place);
  return widths ? text(*widths) : "none";
}

std::shared_ptr<Fill const> fill_of(Access const& access, ComputePlacement const& place) {
  return Fill::make({access}, place);
}

// Where an index looks for its cell: past the edge of its device's shard, or nowhere for a
// constant.
std::optional<Index> looked_for(Access const& access, Index const& i) {
  auto cell = access.map(i);
  for (std::size_t d = 0; d < access.rank(); ++d) {
    auto const& b = access.boundaries[d];
    auto const stride = access.map.axes[d].stride;
    auto const position = (cell[d] - b.first) / stride;
    if (!b.any() || (position >= 0 && position < b.count)) continue;
    auto const kind = position < 0 ? b.below : b.above;
    if (kind == BoundaryKind::constant) return std::nullopt;
    if (kind == BoundaryKind::edge) cell[d] = b.first + stride * (position < 0 ? 0 : b.count - 1);
  }
  return cell;
}

// The widths that all devices need, by looking at every cell they read.
GhostWidths widths_by_reading(Layout const& owned, Access const& access,
                              ComputePlacement const& place) {
  auto widths = GhostWidths::none(owned.rank());
  for (std::int64_t p = 0; p < owned.mesh().size(); ++p) {
    auto const device = owned.mesh().device_at(p);
    auto const own = owned.box_of(device);
    auto const look = [&](Index const& i) {
      auto const cell = looked_for(access, i);
      if (!cell) return;
      for (std::size_t d = 0; d < own.rank(); ++d) {
        widths.below[d] = std::max(widths.below[d], own.lo[d] - (*cell)[d]);
        widths.above[d] = std::max(widths.above[d], (*cell)[d] + 1 - own.hi[d]);
      }
    };
    for (auto const& work : place.work_of(device)) test::for_each_cell(work.indices, look);
  }
  return widths;
}

Cut random_cut(Random& random, std::int64_t extent, std::int64_t ways) {
  auto const kind = random.between(0, 2);
  if (kind == 0) return Cut::balanced();
  if (kind == 1) return Cut::ceil();
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ways), 0);
  for (std::int64_t i = 0; i < extent; ++i)
    ++sizes[static_cast<std::size_t>(random.between(0, ways - 1))];
  return Cut::explicit_sizes(sizes);
}

}  // namespace

TEST_CASE("widths cover, merge and print") {
  GhostWidths const a{{1, 0}, {2, 0}};
  GhostWidths const b{{0, 3}, {1, 0}};

  CHECK(a.covers(a));
  CHECK(!a.covers(b));
  CHECK(a.merged(b) == GhostWidths{{1, 3}, {2, 0}});
  CHECK(a.merged(b).covers(b));
  CHECK(a.covers(GhostWidths::none(2)));
  CHECK(text(a) == "(1, 0) below, (2, 0) above");
}

TEST_CASE("a shift asks for ghost cells on the side that it reads") {
  auto const cells = cells_on_devices(12, 3);

  CHECK(widths_text(*cells, shifted_by({0}), work_on(cells)) == "(0,) below, (0,) above");
  CHECK(widths_text(*cells, shifted_by({2}), work_on(cells, {{0}, {10}})) ==
        "(0,) below, (2,) above");
  CHECK(widths_text(*cells, shifted_by({-1}, {12}, periodic), work_on(cells)) ==
        "(1,) below, (0,) above");
}

TEST_CASE("a reach longer than the largest shard is no matter of ghost cells") {
  auto const cells = cells_on_devices(10, 3);

  CHECK(widths_text(*cells, shifted_by({4}), work_on(cells, {{0}, {6}})) ==
        "(0,) below, (4,) above");
  CHECK(widths_text(*cells, shifted_by({5}), work_on(cells, {{0}, {5}})) == "none");
}

TEST_CASE("a slice of an array one cell longer needs a cell where its pieces begin later") {
  auto const longer = cells_on_devices(13, 4);   // 4 3 3 3
  auto const shorter = cells_on_devices(12, 4);  // 3 3 3 3

  CHECK(widths_text(*longer, shifted_by({0}), work_on(shorter)) == "(1,) below, (0,) above");
  CHECK(widths_text(*longer, shifted_by({1}), work_on(shorter)) == "(0,) below, (0,) above");
  CHECK(widths_text(*shorter, shifted_by({0}), work_on(longer, {{0}, {12}})) ==
        "(0,) below, (1,) above");
}

TEST_CASE("around several boxes there are no ghost cells, and none are needed to read them") {
  auto const dealt = cells_on_devices(12, 2, Cut::cyclic(3));
  auto const one_round = cells_on_devices(12, 2, Cut::cyclic(6));

  CHECK(widths_text(*dealt, shifted_by({0}), work_on(dealt)) == "(0,) below, (0,) above");
  CHECK(widths_text(*dealt, shifted_by({1}), work_on(dealt, {{0}, {11}})) == "none");
  CHECK(widths_text(*dealt, shifted_by({0}), work_on(cells_on_devices(12, 2))) == "none");
  CHECK(widths_text(*one_round, shifted_by({1}), work_on(one_round, {{0}, {11}})) ==
        "(0,) below, (1,) above");
}

TEST_CASE("several boxes of work share the ghost cells around the one box they read") {
  Mesh const mesh({{"x", 2}, {"y", 2}});
  auto const rows = make_layout(mesh, P("x", none), {8, 4});
  auto const dealt = std::make_shared<Layout const>(
      NamedSharding(mesh, P("x", "y"), {Cut::balanced(), Cut::cyclic(1)}), Shape{8, 4});

  CHECK(widths_text(*rows, shifted_by({1, 0}), work_on(dealt, {{0, 0}, {7, 4}})) ==
        "(0, 0) below, (1, 0) above");
}

TEST_CASE("a dimension that every device owns whole needs ghost cells for periodic images only") {
  auto const rows = make_layout(Mesh({{"x", 2}}), P("x", none), {8, 5});

  CHECK(widths_text(*rows, shifted_by({0, 1}), work_on(rows, {{0, 0}, {8, 4}})) ==
        "(0, 0) below, (0, 0) above");
  CHECK(widths_text(*rows, shifted_by({0, -2}, {8, 5}, periodic), work_on(rows)) ==
        "(0, 2) below, (0, 0) above");
  CHECK(widths_text(*rows, shifted_by({0, 6}, {8, 5}, periodic), work_on(rows)) == "none");
}

TEST_CASE("what lies quite differently from the work is no matter of ghost cells") {
  Mesh const mesh({{"x", 2}, {"y", 2}});
  auto const grid = make_layout(mesh, P("x", "y"), {8, 8});
  auto const rows = make_layout(mesh, P("x", none), {8, 8});
  auto const turned = make_layout(mesh, P("y", "x"), {8, 8});
  auto const elsewhere = make_layout(Mesh({2, 3, 0, 1}, {2, 2}, {"x", "y"}), P("x", "y"), {8, 8});
  auto const ceil = make_layout(mesh, P("x", "y"), {8, 8}, Cut::ceil());
  auto const same = shifted_by({0, 0});

  CHECK(widths_text(*grid, same, work_on(grid)) != "none");
  CHECK(widths_text(*rows, same, work_on(grid)) != "none");  // more is owned than needed
  CHECK(widths_text(*grid, same, work_on(rows)) == "none");
  CHECK(widths_text(*grid, same, work_on(turned)) == "none");
  CHECK(widths_text(*grid, same, work_on(elsewhere)) == "none");
  CHECK(widths_text(*grid, same, work_on(ceil)) == "(0, 0) below, (0, 0) above");
  CHECK(widths_text(*grid, Access::plain({2, {{1, 0, 1}, {0, 0, 1}}}), work_on(grid)) == "none");
  CHECK(widths_text(*grid, Access::plain({2, {{AxisMap::fixed, 2, 1}, {1, 0, 1}}}),
                    work_on(grid)) == "none");
}

TEST_CASE("strides are read through ghost cells where the write has the same ones") {
  auto const cells = cells_on_devices(12, 3);
  ComputePlacement const odd{cells, {1, {{0, 1, 2}}}, {{0}, {5}}};

  CHECK(widths_text(*cells, Access::plain({1, {{0, 2, 2}}}), odd) == "(0,) below, (1,) above");
  CHECK(widths_text(*cells, Access::plain({1, {{0, 2, 1}}}), odd) == "none");
}

//            device 0        device 1    device 2    device 3
//  fine      [0 1 2 3 4]     [5 6 7 8]   [9 .. 12]   [13 .. 16]
//  coarse    [0   1   2]     [  3   4]   [  5   6]   [  7    8]

TEST_CASE("a coarse mesh over a fine one is read through ghost cells, and the fine one too") {
  auto const fine = cells_on_devices(17, 4);
  auto const coarse = cells_on_devices(9, 4);
  auto const inner = work_on(coarse, {{1}, {8}});
  auto const read_fine = [&](std::int64_t offset) {
    return widths_text(*fine, Access::plain({1, {{0, offset, 2}}}), inner);
  };
  auto const read_coarse = [&](std::int64_t written, std::int64_t offset) {
    ComputePlacement const place{fine, {1, {{0, written, 2}}}, {{0}, {9 - written}}};
    return widths_text(*coarse, shifted_by({offset}), place);
  };

  CHECK(read_fine(-1) == "(0,) below, (0,) above");
  CHECK(read_fine(0) == "(0,) below, (0,) above");
  CHECK(read_fine(1) == "(0,) below, (1,) above");
  CHECK(read_coarse(0, 0) == "(0,) below, (0,) above");
  CHECK(read_coarse(1, 0) == "(1,) below, (0,) above");
  CHECK(read_coarse(1, 1) == "(0,) below, (0,) above");
}

TEST_CASE("cells that halve evenly are read where they are") {
  auto const fine = cells_on_devices(24, 4);
  auto const coarse = cells_on_devices(12, 4);
  auto const step = [](std::int64_t offset) { return Access::plain({1, {{0, offset, 2}}}); };

  CHECK(widths_text(*fine, step(0), work_on(coarse)) == "(0,) below, (0,) above");
  CHECK(widths_text(*fine, step(1), work_on(coarse)) == "(0,) below, (0,) above");
  CHECK(widths_text(*fine, step(-2), work_on(coarse, {{1}, {12}})) == "(2,) below, (0,) above");
  // The same ratio: every sixth cell for every third one, and both backwards.
  ComputePlacement const third{coarse, {1, {{0, 0, 3}}}, {{0}, {4}}};
  CHECK(widths_text(*fine, Access::plain({1, {{0, 1, 6}}}), third) == "(0,) below, (0,) above");
  ComputePlacement const backwards{coarse, {1, {{0, 11, -1}}}, {{0}, {12}}};
  CHECK(widths_text(*fine, Access::plain({1, {{0, 23, -2}}}), backwards) ==
        "(0,) below, (0,) above");
  CHECK(widths_text(*fine, Access::plain({1, {{0, 23, -2}}}), work_on(coarse)) == "none");
}

//           device 0   device 1   device 2
//  balanced [0 1 2 3]  [4 5 6]    [7 8 9]
//  ceil     [0 1 2 3]  [4 5 6 7]  [8 9]
//  unit(3)  [0 .. 5]   [6 7 8]    [9]

TEST_CASE("rules that cut differently are read where their borders are near each other") {
  auto const balanced = cells_on_devices(10, 3);  // 4 3 3
  auto const ceil = cells_on_devices(10, 3, Cut::ceil());
  auto const unit = cells_on_devices(10, 3, Cut::unit(3));
  auto const same = shifted_by({0});

  CHECK(widths_text(*ceil, same, work_on(balanced)) == "(1,) below, (0,) above");
  CHECK(widths_text(*balanced, same, work_on(ceil)) == "(0,) below, (1,) above");
  CHECK(widths_text(*unit, same, work_on(ceil)) == "(2,) below, (0,) above");
  CHECK(widths_text(*cells_on_devices(40, 8, Cut::unit(4)), same,
                    work_on(cells_on_devices(40, 8))) == "(6,) below, (0,) above");
  CHECK(widths_text(*cells_on_devices(40, 8), same,
                    work_on(cells_on_devices(40, 8, Cut::unit(10)))) == "none");
}

TEST_CASE("a fine mesh in units of a coarse cell matches on any number of devices") {
  for (std::int64_t devices = 2; devices <= 31; ++devices) {
    CAPTURE(devices);
    auto const fine = cells_on_devices(121, devices, Cut::unit(4));
    auto const coarse = cells_on_devices(61, devices, Cut::unit(2));
    auto const coarser = cells_on_devices(31, devices);
    for (auto const& [from, to] : {std::pair(fine, coarse), std::pair(coarse, coarser)}) {
      auto const inner = work_on(to, {{1}, {to->shape()[0] - 1}});
      auto const read = [&](std::int64_t offset) {
        return widths_text(*from, Access::plain({1, {{0, offset, 2}}}), inner);
      };
      CHECK(read(-1) == "(1,) below, (0,) above");
      CHECK(read(0) == "(0,) below, (0,) above");
      CHECK(read(1) == "(0,) below, (0,) above");
    }
  }
}

TEST_CASE("pieces that do not match at any scale are no matter of ghost cells") {
  auto const fine = cells_on_devices(16, 8);
  auto const half = cells_on_devices(16, 8);
  auto const step = Access::plain({1, {{0, 0, 2}}});

  CHECK(widths_text(*fine, step, work_on(half, {{0}, {8}})) == "none");
  // 9: 2 1 1 1 1 1 1 1; 5: 1 1 1 1 1 0 0 0
  CHECK(widths_text(*cells_on_devices(9, 8), step, work_on(cells_on_devices(5, 8))) == "none");
  // Rounded up they match: 2 2 2 2 1 0 0 0 and 1 1 1 1 1 0 0 0
  CHECK(widths_text(*cells_on_devices(9, 8, Cut::ceil()), step,
                    work_on(cells_on_devices(5, 8, Cut::ceil()))) == "(0,) below, (0,) above");
  CHECK(widths_text(*cells_on_devices(16, 4, Cut::cyclic(2)), step,
                    work_on(cells_on_devices(8, 4, Cut::cyclic(1)))) == "none");
}

TEST_CASE("a stepped view that wraps around or repeats its ends reaches as far as it must") {
  auto const fine = cells_on_devices(24, 4);
  auto const coarse = cells_on_devices(12, 4);
  auto const stepped = [](std::int64_t offset, BoundaryKind kind, std::int64_t first) {
    auto access = Access::plain({1, {{0, first + offset, 2}}});
    access.boundaries[0] = {kind, kind, first, 12};
    return access;
  };

  CHECK(widths_text(*fine, stepped(-2, periodic, 0), work_on(coarse)) == "(2,) below, (0,) above");
  CHECK(widths_text(*fine, stepped(2, BoundaryKind::constant, 1), work_on(coarse)) ==
        "(0,) below, (2,) above");
  CHECK(widths_text(*fine, stepped(2, BoundaryKind::edge, 1), work_on(coarse)) ==
        "(2,) below, (2,) above");
  CHECK(widths_text(*fine, stepped(2, BoundaryKind::reflect, 0), work_on(coarse)) == "none");
}

TEST_CASE("strides and offsets as large as they may be are counted or refused") {
  auto const most = std::int64_t{1} << 61;
  auto const large = cells_on_devices(most, 4);
  auto const small = cells_on_devices(4, 4);
  auto const far = Access::plain({1, {{0, 0, most / 4}}});

  CHECK(widths_text(*large, far, work_on(small)) == "(0,) below, (0,) above");
  CHECK(widths_text(*small, shifted_by({0}), {large, {1, {{0, 0, most / 4}}}, {{0}, {4}}}) ==
        "(0,) below, (0,) above");
  CHECK(widths_text(*large, Access::plain({1, {{0, most - 5, 5}}}), work_on(small, {{0}, {1}})) ==
        "none");
}

TEST_CASE("a periodic view of a part has no images in ghost cells") {
  auto const cells = cells_on_devices(12, 3);
  auto access = shifted_by({1});
  access.boundaries[0] = {periodic, periodic, 0, 11};

  CHECK(widths_text(*cells, access, work_on(cells, {{0}, {11}})) == "none");
}

TEST_CASE("widths cover whatever any device reads") {
  Random random(test::seed_of_all(3));
  int with_ghosts = 0;
  int stepped = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto const devices = random.between(1, 5);
    auto const extent = random.between(1, 14);
    auto const nearly = random.chance() ? extent - 1 : (extent + 1) / random.between(1, 3);
    auto const other = random.chance() ? extent : std::max<std::int64_t>(1, nearly);
    auto const cut = random_cut(random, extent, devices);
    bool const listed = cut.kind() == Cut::Kind::explicit_sizes;
    auto const owned = cells_on_devices(extent, devices, cut);
    auto const unlike = random.chance() ? Cut::ceil() : Cut::unit(random.between(1, 3));
    auto const layout = cells_on_devices(listed ? extent : other, devices,
                                         random.between(0, 3) == 0 ? unlike : cut);
    auto const written = random.between(0, 3) == 0 ? 2 : 1;
    auto const stride = random.between(0, 2) == 0 ? random.between(1, 3) : written;
    auto const most = (layout->shape()[0] - 1) / written + 1;
    ComputePlacement const place{layout, {1, {{0, 0, written}}}, {{0}, {random.between(0, most)}}};
    auto access = Access::plain({1, {{0, stride * random.between(-4, 4), stride}}});
    auto const count = extent / stride;
    if (count == 0) continue;
    bool const around = random.chance() && count * stride == extent;
    auto const kind = around            ? periodic
                      : random.chance() ? BoundaryKind::edge
                                        : BoundaryKind::constant;
    access.boundaries[0] = {kind, kind, 0, count};
    CAPTURE(*owned);
    CAPTURE(*layout);
    CAPTURE(access);
    CAPTURE(place.indices);

    auto const widths = ghost_widths_for(*owned, access, place);
    if (!widths) continue;
    auto const needed = widths_by_reading(*owned, access, place);
    REQUIRE(widths->covers(needed));
    with_ghosts += needed == GhostWidths::none(1) ? 0 : 1;
    stepped += needed == GhostWidths::none(1) || stride == written ? 0 : 1;
    bool const exact =
        *owned == *layout && around && stride == 1 && written == 1 && place.indices.hi[0] == extent;
    if (exact) REQUIRE(*widths == needed);
  }
  CHECK(with_ghosts > 1000);
  CHECK(stepped > 80);
}

//  device 0    device 1
//  [0 1 2 3]   [4 5 6 7]

TEST_CASE("what a statement filled is fresh where it was read") {
  auto const cells = cells_on_devices(8, 2);
  HaloValidity fresh;
  CHECK(fresh.empty());
  CHECK(fresh.valid_on(DeviceId{0}, *cells).empty());

  fresh.note_fill(Fill::make({shifted_by({-1}), shifted_by({1})}, work_on(cells, {{1}, {7}})));

  CHECK(!fresh.empty());
  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[4:5]}");
  CHECK(text(fresh.valid_on(DeviceId{1}, *cells)) == "{[3:4]}");
  CHECK(fresh.valid_on(DeviceId{2}, *cells).empty());
}

TEST_CASE("a write makes the ghost cells stale that hold it, and no others") {
  auto const cells = cells_on_devices(8, 2);
  HaloValidity fresh;
  fresh.note_fill(fill_of(shifted_by({3}), work_on(cells, {{0}, {5}})));
  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[4:7]}");

  fresh.note_write({{5}, {6}});
  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[4:5], [6:7]}");

  fresh.note_write({{0}, {4}});
  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[4:5], [6:7]}");

  fresh.note_write({{6}, {6}});
  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[4:5], [6:7]}");
}

TEST_CASE("a write makes its periodic images stale") {
  auto const cells = cells_on_devices(8, 2);
  HaloValidity fresh;
  fresh.note_fill(Fill::make({shifted_by({-2}, {8}, periodic), shifted_by({2}, {8}, periodic)},
                             work_on(cells)));
  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[-2:0], [4:6]}");
  CHECK(text(fresh.valid_on(DeviceId{1}, *cells)) == "{[2:4], [8:10]}");

  fresh.note_write({{7}, {8}});
  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[-2:-1], [4:6]}");
  fresh.note_write({{0}, {1}});
  CHECK(text(fresh.valid_on(DeviceId{1}, *cells)) == "{[2:4], [9:10]}");
}

TEST_CASE("a write makes corners stale that are images along two dimensions") {
  auto const grid = make_layout(Mesh({{"x", 1}, {"y", 1}}), P("x", "y"), {4, 4});
  HaloValidity fresh;
  fresh.note_fill(fill_of(shifted_by({1, 1}, {4, 4}, periodic), work_on(grid)));
  CHECK(fresh.valid_on(DeviceId{0}, *grid).contains(Box{{4, 4}, {5, 5}}));

  fresh.note_write({{0, 0}, {1, 1}});

  auto const region = fresh.valid_on(DeviceId{0}, *grid);
  CHECK(!region.contains(Box{{4, 4}, {5, 5}}));
  CHECK(region.contains(Box{{4, 1}, {5, 4}}));
  CHECK(region.contains(Box{{1, 4}, {4, 5}}));
}

TEST_CASE("a narrow refill under a wider fill leaves the outer cell stale") {
  auto const cells = cells_on_devices(8, 2);
  auto const place = work_on(cells, {{0}, {6}});
  HaloValidity fresh;
  fresh.note_fill(fill_of(shifted_by({2}), place));
  fresh.note_write({{0}, {8}});
  CHECK(fresh.valid_on(DeviceId{0}, *cells).empty());

  fresh.note_fill(fill_of(shifted_by({1}), place));

  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[4:5]}");
}

TEST_CASE("what the same statement fills again after a write is fresh again") {
  auto const cells = cells_on_devices(8, 2);
  auto const fill = fill_of(shifted_by({1}), work_on(cells, {{0}, {7}}));
  HaloValidity fresh;

  fresh.note_fill(fill);
  fresh.note_write({{0}, {8}});
  fresh.note_fill(fill);

  CHECK(text(fresh.valid_on(DeviceId{0}, *cells)) == "{[4:5]}");
}

TEST_CASE("strided fills are never called fresh") {
  auto const cells = cells_on_devices(8, 2);
  ComputePlacement const even{cells, {1, {{0, 0, 2}}}, {{0}, {3}}};
  auto const strided = Access::plain({1, {{0, 2, 2}}});

  CHECK(fill_of(strided, even) == nullptr);
  CHECK(Fill::make({strided, shifted_by({1})}, even)->accesses.size() == 1);

  HaloValidity fresh;
  fresh.note_fill(fill_of(strided, even));
  CHECK(fresh.empty());
}

TEST_CASE("swapped buffers hold nothing fresh") {
  auto const cells = cells_on_devices(8, 2);
  HaloValidity fresh;
  auto const unused = fresh.fingerprint();
  fresh.note_fill(fill_of(shifted_by({1}), work_on(cells, {{0}, {7}})));
  CHECK(fresh.fingerprint() != unused);

  fresh.clear();

  CHECK(fresh.empty());
  CHECK(fresh.valid_on(DeviceId{0}, *cells).empty());
  CHECK(fresh.fingerprint() == unused);
}

TEST_CASE("writes before any fill are not remembered") {
  HaloValidity fresh;

  fresh.note_write({{0}, {8}});

  CHECK(fresh.empty());
  CHECK(fresh.fingerprint() == HaloValidity().fingerprint());
}

TEST_CASE("a list that overflows calls nothing fresh") {
  auto const cells = cells_on_devices(40, 2);
  auto const place = work_on(cells, {{0}, {20}});
  HaloValidity fresh;

  for (std::int64_t k = 1; k <= 8; ++k) {
    fresh.note_fill(fill_of(shifted_by({k}), place));
    CHECK(fresh.valid_on(DeviceId{0}, *cells).cells() == k);
  }
  fresh.note_fill(fill_of(shifted_by({9}), place));
  CHECK(fresh.empty());
  CHECK(fresh.valid_on(DeviceId{0}, *cells).empty());

  fresh.note_fill(fill_of(shifted_by({1}), place));
  CHECK(fresh.valid_on(DeviceId{0}, *cells).cells() == 1);
}

TEST_CASE("a loop comes back to the same fingerprint, so its plans are found again") {
  auto const cells = cells_on_devices(16, 2);
  auto const fill = fill_of(shifted_by({1}), work_on(cells, {{0}, {15}}));
  auto const other = fill_of(shifted_by({2}), work_on(cells, {{0}, {14}}));
  HaloValidity fresh;
  std::vector<std::uint64_t> at_the_end;

  for (int step = 0; step < 50; ++step) {
    fresh.note_fill(fill);
    fresh.note_write({{0}, {7}});
    fresh.note_fill(other);
    fresh.note_write({{7}, {16}});
    at_the_end.push_back(fresh.fingerprint());
  }

  for (std::size_t step = 2; step < at_the_end.size(); ++step)
    CHECK(at_the_end[step] == at_the_end[1]);
}

TEST_CASE("equal histories have equal fingerprints, others have others") {
  auto const cells = cells_on_devices(16, 2);
  auto const place = work_on(cells, {{0}, {14}});
  auto const history = [&](std::int64_t reach, std::int64_t written) {
    HaloValidity fresh;
    fresh.note_fill(fill_of(shifted_by({reach}), place));
    fresh.note_write({{0}, {written}});
    return fresh.fingerprint();
  };

  CHECK(history(1, 3) == history(1, 3));
  CHECK(history(1, 3) != history(2, 3));
  CHECK(history(1, 3) != history(1, 4));
}

TEST_CASE("places of work differ by layout, map and indices") {
  auto const cells = cells_on_devices(16, 2);
  ComputePlacement const shifted{cells, {1, {{0, 1, 1}}}, {{0}, {15}}};

  CHECK(work_on(cells).fingerprint() == work_on(cells_on_devices(16, 2)).fingerprint());
  CHECK(work_on(cells).fingerprint() != work_on(cells_on_devices(16, 4)).fingerprint());
  CHECK(work_on(cells, {{0}, {15}}).fingerprint() != work_on(cells).fingerprint());
  CHECK(work_on(cells, {{0}, {15}}).fingerprint() != shifted.fingerprint());
  CHECK(shifted.work_of(DeviceId{0}) == std::vector<WorkBox>{{0, {{0}, {7}}}});
  CHECK(shifted.work_of(DeviceId{1}) == std::vector<WorkBox>{{0, {{7}, {15}}}});
  CHECK(shifted.work_of(DeviceId{2}).empty());
  CHECK(work_on(cells_on_devices(8, 2, Cut::cyclic(2)), {{3}, {7}}).work_of(DeviceId{1}) ==
        std::vector<WorkBox>{{0, {{3}, {4}}}, {1, {{6}, {7}}}});
}

TEST_SUITE_END();
