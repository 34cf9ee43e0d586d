#include "tessera/layout/cut.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

#include "support/brute_force.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::Random;

TEST_SUITE_BEGIN("layout/cut");

namespace {

std::string sizes(Cut const& cut, std::int64_t extent, std::int64_t ways) {
  std::vector<std::int64_t> list;
  auto const pieces = cut.piece_count(extent, ways);
  for (std::int64_t k = 0; k < pieces; ++k) list.push_back(cut.piece(extent, ways, k).size());
  return join(list, "", "", " ");
}

// A way to cut `extent` cells into `ways` pieces.
struct Case {
  Cut cut;
  std::int64_t extent;
  std::int64_t ways;
};

Case random_explicit(Random& random, std::int64_t ways) {
  std::vector<std::int64_t> sizes;
  std::int64_t extent = 0;
  for (std::int64_t k = 0; k < ways; ++k) {
    sizes.push_back(std::max<std::int64_t>(0, random.between(-3, 5)));
    extent += sizes.back();
  }
  return {Cut::explicit_sizes(sizes), extent, ways};
}

Case random_case(Random& random) {
  auto const extent = random.between(0, 40);
  auto const ways = random.between(1, 12);
  switch (random.between(0, 6)) {
    case 0:
      return {Cut::balanced(), extent, ways};
    case 4:
      return {test::random_segments(random, extent, ways), extent, ways};
    case 5:
      return {Cut::cyclic(random.between(1, 9)), extent, ways};
    case 1:
      return {Cut::ceil(), extent, ways};
    case 3:
      return {Cut::unit(random.between(1, 9)), extent, ways};
    case 2:
      return {Cut::strict(), extent * ways, ways};
    default:
      return random_explicit(random, ways);
  }
}

}  // namespace

TEST_CASE("a balanced cut gives the first pieces one cell more") {
  CHECK(sizes(Cut::balanced(), 10, 3) == "4 3 3");
  CHECK(sizes(Cut::balanced(), 5, 4) == "2 1 1 1");
  CHECK(sizes(Cut::balanced(), 7, 4) == "2 2 2 1");
  CHECK(sizes(Cut::balanced(), 102, 4) == "26 26 25 25");
  CHECK(sizes(Cut::balanced(), 125, 4) == "32 31 31 31");
  CHECK(sizes(Cut::balanced(), 151674, 4) == "37919 37919 37918 37918");
  CHECK(sizes(Cut::balanced(), 3, 8) == "1 1 1 0 0 0 0 0");
  CHECK(sizes(Cut::balanced(), 0, 2) == "0 0");
}

TEST_CASE("a ceil cut gives equal pieces, the last ones short or empty") {
  CHECK(sizes(Cut::ceil(), 10, 3) == "4 4 2");
  CHECK(sizes(Cut::ceil(), 5, 4) == "2 2 1 0");
  CHECK(sizes(Cut::ceil(), 7, 4) == "2 2 2 1");
  CHECK(sizes(Cut::ceil(), 102, 4) == "26 26 26 24");
  CHECK(sizes(Cut::ceil(), 125, 4) == "32 32 32 29");
  CHECK(sizes(Cut::ceil(), 151674, 4) == "37919 37919 37919 37917");
  CHECK(sizes(Cut::ceil(), 3, 8) == "1 1 1 0 0 0 0 0");
  CHECK(sizes(Cut::ceil(), 142, 3) == "48 48 46");
  CHECK(sizes(Cut::ceil(), 142, 4) == "36 36 36 34");
  CHECK(sizes(Cut::ceil(), 0, 2) == "0 0");
}

TEST_CASE("a cut into units keeps blocks whole") {
  CHECK(sizes(Cut::unit(64), 1920, 4) == "512 512 448 448");
  CHECK(sizes(Cut::unit(2), 10, 3) == "4 4 2");
  CHECK(sizes(Cut::unit(4), 10, 3) == "4 4 2");
  CHECK(sizes(Cut::unit(4), 10, 2) == "8 2");
  CHECK(sizes(Cut::unit(4), 3, 2) == "3 0");
  CHECK(sizes(Cut::unit(4), 0, 2) == "0 0");
  CHECK(sizes(Cut::unit(1), 10, 3) == "4 3 3");
}

TEST_CASE("strict and explicit cuts give what they say") {
  CHECK(sizes(Cut::strict(), 12, 4) == "3 3 3 3");
  CHECK(sizes(Cut::strict(), 0, 3) == "0 0 0");
  CHECK(sizes(Cut::explicit_sizes({3, 0, 2}), 5, 3) == "3 0 2");
  CHECK(Cut::explicit_sizes({3, 0, 2}).piece(5, 3, 1) == Piece{3, 3});
  CHECK(Cut::explicit_sizes({3, 0, 2}).piece(5, 3, 2) == Piece{3, 5});
}

TEST_CASE("the pieces of every cut tile the extent, and none is larger than the largest") {
  Random random(test::seed_of_all(4));
  for (int round = 0; round < 2000; ++round) {
    auto const [cut, extent, ways] = random_case(random);
    CAPTURE(cut);
    CAPTURE(extent);
    CAPTURE(ways);
    REQUIRE_NOTHROW(cut.check(extent, ways));

    std::int64_t end = 0;
    std::vector<std::int64_t> owned(static_cast<std::size_t>(ways), 0);
    auto const pieces = cut.piece_count(extent, ways);
    REQUIRE(pieces >= ways);
    REQUIRE((pieces == ways || cut.may_repeat()));
    for (std::int64_t k = 0; k < pieces; ++k) {
      auto const piece = cut.piece(extent, ways, k);
      REQUIRE(piece.lo == end);
      REQUIRE(piece.size() >= 0);
      end = piece.hi;
      owned[static_cast<std::size_t>(k % ways)] += piece.size();
    }
    REQUIRE(end == extent);
    REQUIRE(cut.largest(extent, ways) == *std::max_element(owned.begin(), owned.end()));
    REQUIRE(cut.ways_with_cells(extent, ways) ==
            ways - std::count(owned.begin(), owned.end(), std::int64_t{0}));
  }
}

TEST_CASE("segments are cut each for itself and lie one behind the other") {
  CHECK(sizes(Cut::segments({4, 8}), 12, 2) == "2 2 4 4");
  CHECK(sizes(Cut::segments({5, 3}), 8, 4) == "2 1 1 1 1 1 1 0");
  CHECK(sizes(Cut::segments({1, 0, 2}), 3, 2) == "1 0 0 0 1 1");
  CHECK(sizes(Cut::segments({{5, Cut::unit(2)}, {5, Cut::ceil()}}), 10, 3) == "2 2 1 2 2 1");
  CHECK(sizes(Cut::segments({{4, Cut::explicit_sizes({0, 4})}, 3}), 7, 2) == "0 4 2 1");
  CHECK(sizes(Cut::segments({0}), 0, 2) == "0 0");
  CHECK(Cut::segments({4, 8}).piece(12, 2, 3) == Piece{8, 12});
}

TEST_CASE("queries, keys and values of an attention layer are cut by whole heads") {
  // 8 query heads of 64 columns, two key heads and two value heads.
  auto const cut =
      Cut::segments({{512, Cut::unit(64)}, {128, Cut::unit(64)}, {128, Cut::unit(64)}});

  CHECK(sizes(cut, 768, 2) == "256 256 64 64 64 64");
  CHECK(cut.largest(768, 2) == 384);
}

TEST_CASE("cyclic blocks are dealt out in turn and the last one is short") {
  CHECK(sizes(Cut::cyclic(5), 12, 2) == "5 5 2");
  CHECK(sizes(Cut::cyclic(2), 10, 2) == "2 2 2 2 2");
  CHECK(sizes(Cut::cyclic(1), 3, 2) == "1 1 1");
  CHECK(Cut::cyclic(5).largest(12, 2) == 7);
  CHECK(Cut::cyclic(2).largest(9, 3) == 4);
}

TEST_CASE("a way that gets no block has an empty piece") {
  CHECK(sizes(Cut::cyclic(4), 6, 4) == "4 2 0 0");
  CHECK(sizes(Cut::cyclic(4), 0, 3) == "0 0 0");
  CHECK(Cut::cyclic(4).ways_with_cells(6, 4) == 2);
  CHECK(Cut::segments({1, 2}).ways_with_cells(3, 4) == 2);
}

TEST_CASE("one way has one piece under any rule") {
  CHECK(sizes(Cut::cyclic(2), 9, 1) == "9");
  CHECK(sizes(Cut::segments({4, 5}), 9, 1) == "9");
  CHECK(Cut::segments({4, 5}).pieces_intersecting(9, 1, 3, 6) == Piece{0, 1});
}

TEST_CASE("a cut of rows is counted in cells, and back") {
  auto const segments = Cut::segments({{6, Cut::unit(2)}, {3, Cut::explicit_sizes({1, 2})}});
  auto const in_cells = Cut::segments({{30, Cut::unit(10)}, {15, Cut::explicit_sizes({5, 10})}});

  CHECK(Cut::cyclic(2).in_cells(7, 3, 5) == Cut::cyclic(10));
  CHECK(Cut::cyclic(10).in_rows(35, 3, 5) == Cut::cyclic(2));
  CHECK(Cut::cyclic(std::int64_t{1} << 62).in_cells(7, 3, 5) == Cut::cyclic(35));
  CHECK(segments.in_cells(9, 2, 5) == in_cells);
  CHECK(in_cells.in_rows(45, 2, 5) == segments);
  CHECK(Cut::balanced().in_cells(6, 3, 5) == Cut::balanced());
  CHECK(Cut::balanced().in_cells(7, 3, 5) == Cut::unit(5));
  CHECK(Cut::unit(5).in_rows(35, 3, 5) == Cut::balanced());
  CHECK(Cut::balanced().in_rows(30, 3, 5) == Cut::balanced());
  CHECK(Cut::ceil().in_cells(10, 4, 2) == Cut::unit(6));
  CHECK(Cut::unit(6).in_rows(20, 4, 2) == Cut::unit(3));
  CHECK(Cut::ceil().in_rows(20, 4, 5) == Cut::ceil());
  CHECK(Cut::explicit_sizes({4, 0, 8}).in_rows(12, 3, 4) == Cut::explicit_sizes({1, 0, 2}));
}

TEST_CASE("a cut within a row has no rows") {
  CHECK_FALSE(Cut::balanced().in_rows(20, 3, 5));
  CHECK_FALSE(Cut::cyclic(4).in_rows(20, 2, 5));
  CHECK_FALSE(Cut::explicit_sizes({4, 6}).in_rows(10, 2, 5));
  CHECK_FALSE(Cut::segments({5, 10}).in_rows(15, 2, 5));
  CHECK_FALSE(Cut::segments({2, 8}).in_rows(10, 2, 5));
}

TEST_CASE("the pieces of rows have the cells of the rows") {
  Random random(test::seed_of_all(9));
  int splits = 0;
  for (int round = 0; round < 20000; ++round) {
    auto const [cut, extent, ways] = random_case(random);
    auto const row_cells = random.between(1, 6);
    CAPTURE(cut);
    CAPTURE(extent);
    CAPTURE(ways);
    CAPTURE(row_cells);
    auto const are_alike = [&, ways = ways](Cut const& of_rows, Cut const& of_cells,
                                            std::int64_t rows) {
      auto const pieces = of_rows.piece_count(rows, ways);
      bool alike = pieces == of_cells.piece_count(rows * row_cells, ways);
      for (std::int64_t k = 0; k < pieces && alike; ++k) {
        auto const in_rows = of_rows.piece(rows, ways, k);
        Piece const expected{in_rows.lo * row_cells, in_rows.hi * row_cells};
        auto const piece = of_cells.piece(rows * row_cells, ways, k);
        alike = piece == expected || (piece.size() == 0 && expected.size() == 0);
      }
      return alike;
    };
    auto const cells = cut.in_cells(extent, ways, row_cells);
    REQUIRE_NOTHROW(cells.check(extent * row_cells, ways));
    REQUIRE(are_alike(cut, cells, extent));

    if (extent % row_cells != 0) continue;
    // True if no piece begins or ends within a row.
    bool fits = true;
    auto const pieces = cut.piece_count(extent, ways);
    for (std::int64_t k = 0; k < pieces; ++k)
      fits = fits && cut.piece(extent, ways, k).hi % row_cells == 0;
    auto const rows = cut.in_rows(extent, ways, row_cells);
    REQUIRE((rows.has_value() == fits));
    if (!rows) continue;
    ++splits;
    REQUIRE_NOTHROW(rows->check(extent / row_cells, ways));
    REQUIRE(are_alike(*rows, cut, extent / row_cells));
  }
  CHECK(splits > 2000);
}

TEST_CASE("segments that do not fit are refused with what to change") {
  CHECK_THROWS_WITH_AS(Cut::segments({500}).check(1000, 2),
                       "segments(500) covers 500 cells but there are 1000 cells; give the cells "
                       "of each segment",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Cut::segments({{5, Cut::strict()}, 4}).check(9, 2),
                       "segment 0 of segments(5 strict, 4): 5 cells cannot be cut 2 ways equally; "
                       "use Cut::balanced() or pad to 6",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)Cut::segments({3, -1}),
                       "Cut::segments has -1 cells in segment 1; a segment has 0 or more",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)Cut::segments({{4, Cut::cyclic(1)}}),
                       "Cut::segments has segment 0 cut by cyclic(1); give it a rule that makes "
                       "one piece for each way",
                       ShardingError);
  CHECK_THROWS_AS((void)Cut::segments({}), ShardingError);
  CHECK_THROWS_AS((void)Cut::segments({std::int64_t{1} << 62, 1}), ShardingError);
  CHECK_THROWS_WITH_AS((void)Cut::cyclic(0),
                       "Cut::cyclic has blocks of 0 cells; a block has 1 to 2^62", ShardingError);
}

TEST_CASE("rules of several pieces are equal if their lists or blocks are") {
  CHECK(Cut::segments({4, 8}) == Cut::segments({4, 8}));
  CHECK_FALSE(Cut::segments({4, 8}) == Cut::segments({8, 4}));
  CHECK_FALSE(Cut::segments({4, {8, Cut::unit(2)}}) == Cut::segments({4, 8}));
  CHECK_FALSE(Cut::cyclic(2) == Cut::cyclic(3));
  CHECK_FALSE(Cut::cyclic(2) == Cut::unit(2));
  CHECK(Cut::segments({4, 8}).fingerprint() == Cut::segments({4, 8}).fingerprint());
  CHECK(Cut::segments({4, {8, Cut::unit(2)}}).fingerprint() != Cut::segments({4, 8}).fingerprint());
  CHECK(Cut::cyclic(2).fingerprint() != Cut::cyclic(3).fingerprint());
  CHECK(Cut::cyclic(2).fingerprint() != Cut::unit(2).fingerprint());
  CHECK(text(Cut::segments({4, {8, Cut::unit(2)}})) == "segments(4, 8 unit(2))");
  CHECK(text(Cut::cyclic(5)) == "cyclic(5)");
}

TEST_CASE("the pieces that meet some cells are known by hand") {
  // balanced: [0:4] [4:7] [7:10]
  CHECK(Cut::balanced().pieces_intersecting(10, 3, 3, 4) == Piece{0, 1});
  CHECK(Cut::balanced().pieces_intersecting(10, 3, 3, 5) == Piece{0, 2});
  CHECK(Cut::balanced().pieces_intersecting(10, 3, 4, 7) == Piece{1, 2});
  CHECK(Cut::balanced().pieces_intersecting(10, 3, -5, 99) == Piece{0, 3});
  CHECK(Cut::balanced().pieces_intersecting(10, 3, 5, 5) == Piece{0, 0});
  // explicit: [0:0] [0:3] [3:3] [3:5]
  auto const cut = Cut::explicit_sizes({0, 3, 0, 2});
  CHECK(cut.pieces_intersecting(5, 4, 0, 3) == Piece{1, 2});
  CHECK(cut.pieces_intersecting(5, 4, 2, 4) == Piece{1, 4});
  CHECK(cut.pieces_intersecting(5, 4, 3, 4) == Piece{3, 4});
}

TEST_CASE("the pieces that meet some cells are what trying every piece finds") {
  Random random(test::seed_of_all(5));
  for (int round = 0; round < 5000; ++round) {
    auto const [cut, extent, ways] = random_case(random);
    auto const lo = random.between(-3, extent + 3);
    auto const hi = random.between(-3, extent + 3);
    CAPTURE(cut);
    CAPTURE(extent);
    CAPTURE(ways);
    CAPTURE(lo);
    CAPTURE(hi);

    std::vector<std::int64_t> meeting;
    for (std::int64_t k = 0; k < cut.piece_count(extent, ways); ++k) {
      auto const piece = cut.piece(extent, ways, k);
      if (std::max(piece.lo, lo) < std::min(piece.hi, hi)) meeting.push_back(k);
    }

    auto const met = cut.pieces_intersecting(extent, ways, lo, hi);
    if (meeting.empty()) {
      REQUIRE(met.size() == 0);
      continue;
    }
    REQUIRE(met.lo == meeting.front());
    REQUIRE(met.hi == meeting.back() + 1);
  }
}

TEST_CASE("extents and ways as large as they may be do not overflow") {
  auto const most = std::int64_t{1} << 62;
  for (auto const& cut : {Cut::balanced(), Cut::ceil(), Cut::unit(7), Cut::unit(most),
                          Cut::cyclic(most), Cut::cyclic(most / 2)}) {
    for (std::int64_t const ways : {std::int64_t{1}, std::int64_t{3}, (most >> 1) + 1, most - 1}) {
      CAPTURE(cut);
      CAPTURE(ways);
      CHECK(cut.piece(most, ways, 0).lo == 0);
      CHECK(cut.piece(most, ways, ways - 1).hi == most);
      CHECK(cut.pieces_intersecting(most, ways, 0, 1) == Piece{0, 1});
      auto const last = cut.pieces_intersecting(most, ways, most - 1, most);
      CHECK(last.size() == 1);
      CHECK(cut.piece(most, ways, last.lo).hi == most);
    }
  }
}

TEST_CASE("a strict cut that does not come out even is refused with a way out") {
  CHECK_THROWS_WITH_AS(Cut::strict().check(10, 4),
                       "10 cells cannot be cut 4 ways equally; use Cut::balanced() or pad to 12",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Cut::strict().check(1, 3),
                       "1 cell cannot be cut 3 ways equally; use Cut::balanced() or pad to 3",
                       ShardingError);
}

TEST_CASE("sizes that do not fit the pieces or the cells are refused") {
  auto const cut = Cut::explicit_sizes({3, 0, 2});

  CHECK_THROWS_WITH_AS(cut.check(5, 2),
                       "explicit_sizes(3, 0, 2) has 3 sizes for 2 pieces; give one size per piece",
                       ShardingError);
  CHECK_THROWS_WITH_AS(cut.check(6, 3),
                       "the sizes of explicit_sizes(3, 0, 2) add up to 5 but there are 6 cells",
                       ShardingError);
  CHECK_THROWS_WITH_AS(cut.check(1, 3),
                       "the sizes of explicit_sizes(3, 0, 2) add up to 5 but there is 1 cell",
                       ShardingError);
}

TEST_CASE("sizes that cannot be are refused") {
  CHECK_THROWS_WITH_AS((void)Cut::explicit_sizes({}),
                       "Cut::explicit_sizes has an empty list; give one size per piece",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)Cut::explicit_sizes({3, -1}),
                       "Cut::explicit_sizes has size -1 for piece 1; sizes are 0 or more",
                       ShardingError);
  auto const half = std::int64_t{1} << 61;
  CHECK_NOTHROW((void)Cut::explicit_sizes({half, half}));
  CHECK_THROWS_WITH_AS((void)Cut::explicit_sizes({half, half, 1}),
                       "the sizes of Cut::explicit_sizes add up to more than 2^62 cells",
                       ShardingError);
}

TEST_CASE("blocks without a cell or beyond all cells are refused") {
  CHECK_THROWS_WITH_AS((void)Cut::unit(0), "Cut::unit has blocks of 0 cells; a block has 1 to 2^62",
                       ShardingError);
  CHECK_THROWS_AS((void)Cut::unit(std::numeric_limits<std::int64_t>::max()), ShardingError);
}

TEST_CASE("cuts are equal if they cut everything alike") {
  CHECK(Cut::balanced() == Cut::balanced());
  CHECK_FALSE(Cut::balanced() == Cut::ceil());
  CHECK(Cut::explicit_sizes({3, 2}) == Cut::explicit_sizes({3, 2}));
  CHECK_FALSE(Cut::explicit_sizes({3, 2}) == Cut::explicit_sizes({2, 3}));
  CHECK_FALSE(Cut::explicit_sizes({3, 2}) == Cut::balanced());
  CHECK(Cut::explicit_sizes({3, 2}).fingerprint() == Cut::explicit_sizes({3, 2}).fingerprint());
  CHECK(Cut::explicit_sizes({3, 2}).fingerprint() != Cut::explicit_sizes({2, 3}).fingerprint());
  CHECK(Cut::balanced().fingerprint() != Cut::ceil().fingerprint());
  CHECK(Cut::strict().fingerprint() != Cut::ceil().fingerprint());
  CHECK(Cut::unit(3) == Cut::unit(3));
  CHECK_FALSE(Cut::unit(3) == Cut::unit(4));
  CHECK(Cut::unit(3).fingerprint() != Cut::unit(4).fingerprint());
}

TEST_CASE("cuts and pieces print what they are") {
  CHECK(text(Cut::balanced()) == "balanced");
  CHECK(text(Cut::ceil()) == "ceil");
  CHECK(text(Cut::strict()) == "strict");
  CHECK(text(Cut::unit(64)) == "unit(64)");
  CHECK(text(Cut::explicit_sizes({3, 0, 2})) == "explicit_sizes(3, 0, 2)");
  CHECK(text(Cut::explicit_sizes(std::vector<std::int64_t>(17, 1))) ==
        "explicit_sizes(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ...)");
  CHECK(text(Piece{3, 5}) == "[3:5]");
}

TEST_SUITE_END();
