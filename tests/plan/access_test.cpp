#include "src/plan/access.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"

#include "support/boundaries.hpp"
#include "support/brute_force.hpp"
#include "support/seeds.hpp"

#include "cases.hpp"

using namespace tessera;
using test::Random;
using test::shifted_by;

TEST_SUITE_BEGIN("plan/access");

namespace {

std::string text_of(AffinePiece const& affine_piece) {
  auto const range = text('[', affine_piece.lo, ':', affine_piece.hi, ']');
  if (affine_piece.kind == AffinePiece::Kind::below) return "below " + range;
  if (affine_piece.kind == AffinePiece::Kind::above) return "above " + range;
  if (affine_piece.step == 0) return text("cell ", affine_piece.cell, " for ", range);
  if (affine_piece.step < 0) return text("cells ", affine_piece.cell, " - i for ", range);
  return affine_piece.wrap == 0 ? "inside " + range
                                : text("inside ", range, " + ", affine_piece.wrap);
}

std::string stretches_text(Access const& access, Box const& indices) {
  std::vector<std::string> words;
  for (auto const& affine_piece : affine_pieces_of(access, 0, indices))
    words.push_back(text_of(affine_piece));
  return join(words);
}

// What index i reads along dimension 0 of an array, by the definition.
struct Seen {
  enum class Kind { cell, below, above };
  Kind kind = Kind::cell;
  std::int64_t cell = 0;
  friend bool operator==(Seen const&, Seen const&) = default;
};

Seen seen_at(Access const& access, std::int64_t i) {
  auto const& axis = access.map.axes[0];
  auto const& boundary = access.boundaries[0];
  auto const cell = axis.offset + axis.stride * i;
  if (!boundary.any()) return {Seen::Kind::cell, cell};
  auto position = (cell - boundary.first) / axis.stride;
  if (position >= 0 && position < boundary.count) return {Seen::Kind::cell, cell};
  bool const is_below = position < 0;
  switch (is_below ? boundary.below : boundary.above) {
    case BoundaryKind::constant:
      return {is_below ? Seen::Kind::below : Seen::Kind::above, 0};
    case BoundaryKind::periodic:
      position = floor_mod(position, boundary.count);
      break;
    case BoundaryKind::reflect:
    case BoundaryKind::symmetric:
      position =
          test::mirrored(position, boundary.count, is_below ? boundary.below : boundary.above);
      break;
    default:
      position = is_below ? 0 : boundary.count - 1;
  }
  return {Seen::Kind::cell, boundary.first + axis.stride * position};
}

Seen seen_by(AffinePiece const& affine_piece, std::int64_t i) {
  if (affine_piece.kind == AffinePiece::Kind::below) return {Seen::Kind::below, 0};
  if (affine_piece.kind == AffinePiece::Kind::above) return {Seen::Kind::above, 0};
  return {Seen::Kind::cell, affine_piece.cell + affine_piece.step * i};
}

Access random_access(Random& random) {
  AxisMap axis{0, 0, random.between(1, 3) * (random.between(0, 4) == 0 ? -1 : 1)};
  AxisBoundary boundary;
  boundary.first = random.between(-2, 5);
  boundary.count = random.between(1, 6);
  if (random.between(0, 2) == 0) {
    boundary.below = boundary.above = BoundaryKind::periodic;
  } else {
    boundary.below = test::random_end(random);
    boundary.above = test::random_end(random);
  }
  axis.offset = boundary.first + axis.stride * random.between(-15, 15);
  auto access = Access::plain({1, {axis}});
  if (random.between(0, 5) > 0) access.boundaries[0] = boundary;
  return access;
}

AffineMap random_map(Random& random, std::size_t rank, std::int64_t most_stride) {
  AffineMap map{rank, {}};
  bool const swapped = rank == 2 && random.between(0, 3) == 0;
  for (std::size_t d = 0; d < rank; ++d) {
    auto const from = swapped ? 1 - static_cast<int>(d) : static_cast<int>(d);
    auto const stride = random.between(1, most_stride) * (random.between(0, 5) == 0 ? -1 : 1);
    map.axes.push_back({from, random.between(-3, 3), stride});
  }
  return map;
}

// True if some index reads what another one writes.
bool is_overwritten(Access const& access, AffineMap const& written, Box const& indices) {
  bool found = false;
  test::for_each_cell(indices, [&](Index const& i) {
    Index cell;
    for (std::size_t d = 0; d < access.rank(); ++d) {
      Access axis = Access::plain({1, {access.map.axes[d]}});
      axis.boundaries[0] = access.boundaries[d];
      auto const seen = seen_at(axis, i[static_cast<std::size_t>(access.map.axes[d].from)]);
      if (seen.kind != Seen::Kind::cell) return;
      cell.push_back(seen.cell);
    }
    test::for_each_cell(indices,
                        [&](Index const& j) { found = found || (i != j && written(j) == cell); });
  });
  return found;
}

}  // namespace

TEST_CASE("a view without boundaries is one stretch") {
  CHECK(stretches_text(shifted_by({3}), {{0}, {5}}) == "inside [0:5]");
  CHECK(stretches_text(shifted_by({3}), {{5}, {5}}).empty());
}

TEST_CASE("a periodic view wraps where the view ends") {
  auto const by = [](std::int64_t k) { return shifted_by({k}, {5}, BoundaryKind::periodic); };

  CHECK(stretches_text(by(1), {{0}, {5}}) == "inside [0:4], inside [4:5] + -5");
  CHECK(stretches_text(by(-1), {{0}, {5}}) == "inside [0:1] + 5, inside [1:5]");
  CHECK(stretches_text(by(-1), {{2}, {4}}) == "inside [2:4]");
  CHECK(stretches_text(by(12), {{0}, {5}}) == "inside [0:3] + -10, inside [3:5] + -15");
}

TEST_CASE("an edge repeats its cell, a constant has none") {
  CHECK(stretches_text(shifted_by({2}, {5}, BoundaryKind::edge), {{0}, {5}}) ==
        "inside [0:3], cell 4 for [3:5]");
  CHECK(stretches_text(shifted_by({-9}, {5}, BoundaryKind::edge), {{0}, {5}}) ==
        "cell 0 for [0:5]");
  CHECK(stretches_text(shifted_by({-2}, {5}, BoundaryKind::constant), {{0}, {5}}) ==
        "below [0:2], inside [2:5]");
  CHECK(stretches_text(shifted_by({9}, {5}, BoundaryKind::constant), {{0}, {5}}) == "above [0:5]");
}

TEST_CASE("a mirror turns round at each end, with and without its last cell") {
  auto const by = [](std::int64_t k, BoundaryKind kind) { return shifted_by({k}, {3}, kind); };

  // 0 1 2 1 0 1 ...
  CHECK(stretches_text(by(1, BoundaryKind::reflect), {{0}, {3}}) ==
        "inside [0:2], cells 3 - i for [2:3]");
  CHECK(stretches_text(by(-1, BoundaryKind::reflect), {{0}, {3}}) ==
        "cells 1 - i for [0:1], inside [1:3]");
  CHECK(stretches_text(by(-1, BoundaryKind::reflect), {{0}, {1}}) == "cells 1 - i for [0:1]");
  // 0 1 2 2 1 0 0 ...
  CHECK(stretches_text(by(1, BoundaryKind::symmetric), {{0}, {3}}) ==
        "inside [0:2], cells 4 - i for [2:3]");
  CHECK(stretches_text(by(-3, BoundaryKind::symmetric), {{0}, {3}}) == "cells 2 - i for [0:3]");
  // A single cell has no other to show.
  CHECK(stretches_text(shifted_by({2}, {1}, BoundaryKind::reflect), {{0}, {1}}) ==
        "cell 0 for [0:1]");
}

TEST_CASE("a dimension that no index moves is one cell") {
  auto const access = Access::plain({1, {{AxisMap::fixed, 7, 1}}});

  CHECK(stretches_text(access, {{3}, {9}}) == "cell 7 for [0:1]");
}

TEST_CASE("stretches say of every index what the definition says") {
  Random random(test::seed_of_all(1));
  for (int round = 0; round < 20'000; ++round) {
    auto const access = random_access(random);
    Box const indices{{random.between(-4, 4)}, {random.between(-4, 12)}};
    auto const affine_pieces = affine_pieces_of(access, 0, indices);
    CAPTURE(access);
    CAPTURE(indices);

    auto next = indices.lo[0];
    for (auto const& affine_piece : affine_pieces) {
      REQUIRE(affine_piece.lo == next);
      REQUIRE(affine_piece.hi > affine_piece.lo);
      next = affine_piece.hi;
      for (auto i = affine_piece.lo; i < affine_piece.hi; ++i)
        if (!(seen_by(affine_piece, i) == seen_at(access, i)))
          FAIL(text_of(affine_piece), " is wrong at ", i);
    }
    REQUIRE(next == (indices.empty() ? indices.lo[0] : indices.hi[0]));
  }
}

TEST_CASE("combinations run through all stretches, the last dimension fastest") {
  std::vector<std::vector<AffinePiece>> const affine_pieces{
      {{.lo = 0, .hi = 1}, {.lo = 1, .hi = 2}}, {{.lo = 5, .hi = 6}, {.lo = 6, .hi = 7}}};
  std::vector<std::string> seen;

  visit_combinations(affine_pieces, [&](auto const& choice) {
    seen.push_back(text(choice[0]->lo, choice[1]->lo));
  });

  CHECK(join(seen) == "05, 06, 15, 16");
}

TEST_CASE("one empty dimension leaves no combination, and no dimensions leave one") {
  int visits = 0;
  visit_combinations({{AffinePiece{}}, {}}, [&](auto const&) { ++visits; });
  CHECK(visits == 0);

  visit_combinations({}, [&](auto const&) { ++visits; });
  CHECK(visits == 1);
}

TEST_CASE("where a boundary begins, a box of indices is cut, along every dimension") {
  auto const access = shifted_by({-1, 2}, {4, 6}, BoundaryKind::edge);

  auto const boxes = boxes_of_one_formula(std::vector{access}, {{0, 0}, {4, 6}});

  CHECK(boxes ==
        std::vector<Box>{{{0, 0}, {1, 4}}, {{0, 4}, {1, 6}}, {{1, 0}, {4, 4}}, {{1, 4}, {4, 6}}});
}

TEST_CASE("periodic images are cut off nowhere") {
  auto const access = shifted_by({-1, 2}, {4, 6}, BoundaryKind::periodic);

  auto const boxes = boxes_of_one_formula(std::vector{access}, {{0, 0}, {4, 6}});

  CHECK(boxes == std::vector<Box>{{{0, 0}, {4, 6}}});
}

TEST_CASE("reading the cell that is written is no danger, reading a neighbour's is") {
  auto const same = AffineMap::identity(1);

  CHECK(!could_read_overwritten(shifted_by({0}), same, {{0}, {9}}));
  CHECK(could_read_overwritten(shifted_by({1}), same, {{0}, {9}}));
  CHECK(!could_read_overwritten(shifted_by({1}), same, {{4}, {4}}));
  CHECK(could_read_overwritten(shifted_by({0}, {9}, BoundaryKind::periodic), same, {{4}, {11}}));
}

TEST_CASE("cells that are written and cells that are read may lie apart") {
  AffineMap const odd{1, {{0, 1, 2}}};
  AffineMap const even{1, {{0, 0, 2}}};
  AffineMap const row{1, {{AxisMap::fixed, 3, 1}, {0, 0, 1}}};
  AffineMap const next_row{1, {{AxisMap::fixed, 4, 1}, {0, 1, 1}}};

  CHECK(!could_read_overwritten(Access::plain(even), odd, {{0}, {50}}));
  CHECK(!could_read_overwritten(shifted_by({20}), AffineMap::identity(1), {{0}, {20}}));
  CHECK(could_read_overwritten(shifted_by({19}), AffineMap::identity(1), {{0}, {20}}));
  CHECK(!could_read_overwritten(Access::plain(next_row), row, {{0}, {9}}));
}

TEST_CASE("a transposed read of the written square sees overwritten cells") {
  AffineMap const transposed{2, {{1, 0, 1}, {0, 0, 1}}};

  CHECK(
      could_read_overwritten(Access::plain(transposed), AffineMap::identity(2), {{0, 0}, {4, 4}}));
}

TEST_CASE("no overwritten cell is ever missed") {
  Random random(test::seed_of_all(2));
  int dangers = 0;
  int calls_safe = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto const rank = static_cast<std::size_t>(random.between(1, 2));
    auto const written = random_map(random, rank, 3);
    auto access = Access::plain(random.between(0, 4) == 0 ? written : random_map(random, rank, 3));
    for (std::size_t d = 0; d < rank; ++d) {
      if (random.chance()) continue;
      access.boundaries[d] = random_access(random).boundaries[0];
      auto& axis = access.map.axes[d];
      axis.offset = access.boundaries[d].first + axis.stride * random.between(-3, 3);
    }
    auto const indices = random.box(rank, -1, 4);
    CAPTURE(access);
    CAPTURE(written);
    CAPTURE(indices);

    bool const danger = is_overwritten(access, written, indices);
    bool const said = could_read_overwritten(access, written, indices);
    REQUIRE((said || !danger));

    dangers += danger ? 1 : 0;
    calls_safe += said || indices.empty() ? 0 : 1;
  }
  CHECK(dangers > 1000);
  CHECK(calls_safe > 1000);
}

TEST_CASE("an access prints its map and its boundaries") {
  auto access = shifted_by({1, 0});
  CHECK(text(access) == "(i0 + 1, i1)");
  CHECK(!access.has_boundaries());

  access.boundaries[0] = {BoundaryKind::periodic, BoundaryKind::periodic, 0, 5};
  access.boundaries[1] = {BoundaryKind::edge, BoundaryKind::constant, 0, 5};
  CHECK(text(access) == "(i0 + 1, i1), dimension 0 periodic, dimension 1 edge/constant");
  CHECK(access.has_boundaries());
  CHECK(text(to_string(BoundaryKind::absent)) == "absent");
}

TEST_CASE("the fingerprint tells accesses apart, and equal ones not") {
  auto const periodic = shifted_by({1}, {5}, BoundaryKind::periodic);
  std::vector<Access> accesses{shifted_by({0}),
                               shifted_by({1}),
                               shifted_by({0, 0}),
                               Access::plain({2, {{0, 0, 1}}}),
                               Access::plain({2, {{1, 0, 1}}}),
                               Access::plain({1, {{0, 0, 2}}}),
                               Access::plain({1, {{AxisMap::fixed, 0, 1}}}),
                               periodic,
                               shifted_by({1}, {6}, BoundaryKind::periodic),
                               shifted_by({1}, {5}, BoundaryKind::edge),
                               shifted_by({1}, {5}, BoundaryKind::constant)};
  accesses.push_back(periodic);
  accesses.back().boundaries[0].first = 2;
  accesses.push_back(periodic);
  accesses.back().boundaries[0].above = BoundaryKind::edge;

  for (auto const& a : accesses)
    for (auto const& b : accesses) {
      CAPTURE(a);
      CAPTURE(b);
      CHECK((a.fingerprint() == b.fingerprint()) == (&a == &b));
    }
  CHECK(periodic.fingerprint() == shifted_by({1}, {5}, BoundaryKind::periodic).fingerprint());
}

TEST_SUITE_END();
