#include "tessera/layout/named_sharding.hpp"

#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

#include "support/brute_force.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("layout/named_sharding");

namespace {

Mesh row(std::int64_t devices) {
  return Mesh({{"x", devices}});
}

Mesh permuted() {
  return {{4, 6, 0, 2, 7, 3, 1, 5}, {4, 2}, {"data", "model"}};
}

Box box(NamedSharding const& sharding, Shape const& shape, std::int64_t device) {
  return sharding.box_of(DeviceId{device}, shape);
}

// Shardings of a mesh of three axes and of permuted ones, with copies and without.
std::vector<NamedSharding> many_shardings() {
  Mesh const cube({{"x", 2}, {"y", 3}, {"z", 4}});
  std::vector<NamedSharding> list;
  for (auto const& spec :
       {P("x"), P({"z", "x"}), P("y", "x"), P(none, {"x", "y", "z"}), P({"y", "z"}, none, "x"),
        P(none), P(), P({"z", "y", "x"}), P("z", none, none, none, none, none, none, "x")})
    list.emplace_back(cube, spec);
  for (auto const& spec : {P("model"), P("data", "model"), P({"model", "data"}), P("data")})
    list.emplace_back(permuted(), spec);
  return list;
}

}  // namespace

TEST_CASE("one axis cuts the rows in order") {
  NamedSharding const sharding(Mesh({{"x", 4}, {"y", 1}}), P("x", none));

  for (std::int64_t k = 0; k < 4; ++k)
    CHECK(box(sharding, {40, 40}, k) == Box{{10 * k, 0}, {10 * k + 10, 40}});
  CHECK(sharding.shard_shape({40, 40}) == Shape{10, 40});
}

TEST_CASE("two axes cut rows and columns, the device of (a, b) being the mesh's") {
  NamedSharding const sharding(Mesh({{"x", 2}, {"y", 2}}), P("x", "y"));

  for (std::int64_t a = 0; a < 2; ++a)
    for (std::int64_t b = 0; b < 2; ++b)
      CHECK(box(sharding, {40, 40}, 2 * a + b) ==
            Box{{20 * a, 20 * b}, {20 * a + 20, 20 * b + 20}});
}

TEST_CASE("axes may cut other dimensions than their places in the mesh") {
  NamedSharding const sharding(Mesh({{"x", 2}, {"y", 2}}), P("y", "x"));

  CHECK(box(sharding, {2, 2}, 0) == Box{{0, 0}, {1, 1}});
  CHECK(box(sharding, {2, 2}, 1) == Box{{1, 0}, {2, 1}});
  CHECK(box(sharding, {2, 2}, 2) == Box{{0, 1}, {1, 2}});
  CHECK(box(sharding, {2, 2}, 3) == Box{{1, 1}, {2, 2}});
}

TEST_CASE("a permuted device list decides who owns what") {
  NamedSharding const sharding(permuted(), P("data", "model"));

  CHECK(box(sharding, {4, 4}, 4) == Box{{0, 0}, {1, 2}});
  CHECK(box(sharding, {4, 4}, 6) == Box{{0, 2}, {1, 4}});
  CHECK(box(sharding, {4, 4}, 0) == Box{{1, 0}, {2, 2}});
  CHECK(box(sharding, {4, 4}, 7) == Box{{2, 0}, {3, 2}});
  CHECK(box(sharding, {4, 4}, 3) == Box{{2, 2}, {3, 4}});
  CHECK(box(sharding, {4, 4}, 5) == Box{{3, 2}, {4, 4}});
}

TEST_CASE("several axes cut one dimension, the first one major") {
  Mesh const mesh({{"x", 2}, {"y", 3}});

  // (x, y) in the order of the mesh: device k has piece k.
  NamedSharding const along(mesh, P({"x", "y"}));
  for (std::int64_t k = 0; k < 6; ++k) CHECK(box(along, {12}, k) == Box{{2 * k}, {2 * k + 2}});

  // y major: device 3 x + y has piece 2 y + x.
  NamedSharding const across(mesh, P({"y", "x"}));
  CHECK(box(across, {12}, 0) == Box{{0}, {2}});
  CHECK(box(across, {12}, 1) == Box{{4}, {6}});
  CHECK(box(across, {12}, 2) == Box{{8}, {10}});
  CHECK(box(across, {12}, 3) == Box{{2}, {4}});
  CHECK(box(across, {12}, 4) == Box{{6}, {8}});
  CHECK(box(across, {12}, 5) == Box{{10}, {12}});
  CHECK(across.ways(0) == 6);
}

TEST_CASE("mesh axes that are not named hold copies") {
  NamedSharding const rows(Mesh({{"x", 2}, {"y", 2}}), P("x", none));

  CHECK(box(rows, {2, 2}, 0) == Box{{0, 0}, {1, 2}});
  CHECK(box(rows, {2, 2}, 1) == Box{{0, 0}, {1, 2}});
  CHECK(box(rows, {2, 2}, 2) == Box{{1, 0}, {2, 2}});
  CHECK(box(rows, {2, 2}, 3) == Box{{1, 0}, {2, 2}});
  CHECK(rows.replicas() == 2);
  CHECK(rows.replica_at(2) == 0);
  CHECK(rows.replica_at(3) == 1);
}

TEST_CASE("copies are numbered row-major over the axes that are not named") {
  NamedSharding const sharding(Mesh({{"x", 2}, {"y", 3}, {"z", 4}}), P("y"));

  CHECK(sharding.replicas() == 8);
  // Position 12 x + 4 y + z holds copy 4 x + z.
  CHECK(sharding.replica_at(12 * 1 + 4 * 2 + 3) == 7);
  CHECK(sharding.replica_at(12 * 0 + 4 * 2 + 3) == 3);
  CHECK(sharding.replica_at(12 * 1 + 4 * 0 + 0) == 4);
  CHECK(sharding.pieces_at(12 * 1 + 4 * 2 + 3) == Index{2});
  CHECK(sharding.position_holding({2}, 7) == 23);
}

TEST_CASE("an array that is not cut lies whole on every device") {
  NamedSharding const sharding(row(3), P(none, none));

  for (std::int64_t k = 0; k < 3; ++k) CHECK(box(sharding, {4, 5}, k) == whole({4, 5}));
  CHECK(sharding.replicas() == 3);
  CHECK(sharding.shard_shape({4, 5}) == Shape{4, 5});
}

TEST_CASE("an array without dimensions is one cell on every device of the mesh and on no other") {
  NamedSharding const sharding(row(3), P());

  CHECK(box(sharding, {}, 2) == Box{});
  CHECK(box(sharding, {}, 3).empty());
  CHECK(sharding.shard_shape({}) == Shape{});
}

TEST_CASE("a device that is not of the mesh owns nothing") {
  NamedSharding const sharding(Mesh({9, 2}, {2}, {"x"}), P("x"));

  CHECK(box(sharding, {10}, 9) == Box{{0}, {5}});
  CHECK(box(sharding, {10}, 2) == Box{{5}, {10}});
  CHECK(box(sharding, {10}, 0).empty());
  CHECK(box(sharding, {10}, 3).empty());
}

TEST_CASE("with more devices than cells the last devices own nothing") {
  NamedSharding const sharding(row(8), P("x"));

  CHECK(box(sharding, {3}, 2) == Box{{2}, {3}});
  CHECK(box(sharding, {3}, 3).empty());
  CHECK(box(sharding, {3}, 7).empty());
  CHECK(sharding.shard_shape({3}) == Shape{1});
}

TEST_CASE("an array with an extent of zero is owned by nobody") {
  NamedSharding const sharding(Mesh({{"x", 2}, {"y", 2}}), P("x", "y"));

  for (std::int64_t k = 0; k < 4; ++k) CHECK(box(sharding, {0, 5}, k).empty());
  CHECK(sharding.shard_shape({0, 5}) == Shape{0, 3});
}

TEST_CASE("each dimension can have a cut of its own") {
  NamedSharding const sharding(Mesh({{"x", 3}, {"y", 4}}), P("x", "y"),
                               {Cut::explicit_sizes({1, 0, 6}), Cut::ceil()});

  CHECK(box(sharding, {7, 5}, 0) == Box{{0, 0}, {1, 2}});
  CHECK(box(sharding, {7, 5}, 1) == Box{{0, 2}, {1, 4}});
  CHECK(box(sharding, {7, 5}, 2) == Box{{0, 4}, {1, 5}});
  CHECK(box(sharding, {7, 5}, 3).empty());
  CHECK(box(sharding, {7, 5}, 4).empty());
  CHECK(box(sharding, {7, 5}, 8) == Box{{1, 0}, {7, 2}});
  CHECK(sharding.shard_shape({7, 5}) == Shape{6, 2});
}

TEST_CASE("one cut is meant for the dimensions that are cut") {
  NamedSharding const sharding(row(2), P("x", none), Cut::explicit_sizes({1, 4}));

  CHECK(box(sharding, {5, 7}, 0) == Box{{0, 0}, {1, 7}});
  CHECK(box(sharding, {5, 7}, 1) == Box{{1, 0}, {5, 7}});
  CHECK_NOTHROW(NamedSharding(row(4), P(none, "x"), Cut::strict()).check({3, 8}));
}

TEST_CASE("pieces and copy of a position lead back to it") {
  for (auto const& sharding : many_shardings()) {
    CAPTURE(sharding);
    for (std::int64_t position = 0; position < sharding.mesh().size(); ++position) {
      auto const pieces = sharding.pieces_at(position);
      auto const replica = sharding.replica_at(position);
      REQUIRE(sharding.position_holding(pieces, replica) == position);
      REQUIRE(replica >= 0);
      REQUIRE(replica < sharding.replicas());
      for (std::size_t d = 0; d < sharding.rank(); ++d) {
        REQUIRE(pieces[d] >= 0);
        REQUIRE(pieces[d] < sharding.ways(d));
      }
    }
  }
}

TEST_CASE("each copy holds every cell exactly once") {
  for (auto const& sharding : many_shardings()) {
    CAPTURE(sharding);
    Shape shape;
    for (std::size_t d = 0; d < sharding.rank(); ++d)
      shape.push_back(sharding.rank() > 3 ? 2 : std::int64_t{5} + static_cast<std::int64_t>(d));
    std::map<std::int64_t, std::multiset<Index>> cells;
    for (std::int64_t p = 0; p < sharding.mesh().size(); ++p)
      test::for_each_cell(sharding.box_of(sharding.mesh().device_at(p), shape),
                          [&](Index const& cell) { cells[sharding.replica_at(p)].insert(cell); });

    auto const all = test::cells_in(whole(shape));
    REQUIRE(static_cast<std::int64_t>(cells.size()) == sharding.replicas());
    for (auto const& [replica, held] : cells)
      REQUIRE(held == std::multiset<Index>(all.begin(), all.end()));
  }
}

TEST_CASE("shardings are equal if they lay out everything alike") {
  auto const mesh = row(4);

  CHECK(NamedSharding(mesh, P("x")) == NamedSharding(row(4), P("x")));
  CHECK(NamedSharding(mesh, P("x")) == NamedSharding(mesh, P("x"), {Cut::balanced()}));
  CHECK_FALSE(NamedSharding(mesh, P("x")) == NamedSharding(mesh, P("x"), Cut::ceil()));
  CHECK_FALSE(NamedSharding(mesh, P("x")) == NamedSharding(mesh, P(none)));
  CHECK_FALSE(NamedSharding(mesh, P("x")) == NamedSharding(mesh, P("x", none)));
  CHECK_FALSE(NamedSharding(mesh, P("x")) == NamedSharding(row(5), P("x")));
  CHECK(NamedSharding(mesh, P(none), Cut::ceil()) == NamedSharding(mesh, P(none)));
  CHECK(std::hash<NamedSharding>{}(NamedSharding(mesh, P("x"))) ==
        std::hash<NamedSharding>{}(NamedSharding(row(4), P("x"))));
}

TEST_CASE("shardings that differ have different fingerprints, the same in every run") {
  Mesh const mesh({{"x", 2}, {"y", 4}});
  std::set<std::uint64_t> seen;
  for (auto const& spec :
       {P("x"), P("y"), P(none), P(), P("x", none), P("x", "y"), P({"x", "y"}), P({"y", "x"})})
    seen.insert(NamedSharding(mesh, spec).fingerprint());
  seen.insert(NamedSharding(mesh, P("x"), Cut::ceil()).fingerprint());

  CHECK(seen.size() == 9);
  CHECK(NamedSharding(mesh, P("x", none)).fingerprint() == 375545098438900463ULL);
}

TEST_CASE("a sharding prints itself, and its cuts where they are not balanced") {
  Mesh const mesh({{"x", 2}, {"y", 4}});

  CHECK(text(NamedSharding(mesh, P("x", none))) == "NamedSharding(Mesh(x=2, y=4), P(\"x\", none))");
  CHECK(text(NamedSharding(mesh, P("x"), Cut::ceil())) ==
        "NamedSharding(Mesh(x=2, y=4), P(\"x\"), ceil)");
  CHECK(text(NamedSharding(mesh, P("x", "y"), {Cut::explicit_sizes({3, 2}), Cut::strict()})) ==
        "NamedSharding(Mesh(x=2, y=4), P(\"x\", \"y\"), (explicit_sizes(3, 2), strict))");
}

TEST_CASE("an axis that the mesh does not have is refused with those it has") {
  Mesh const mesh({{"x", 2}, {"y", 4}});

  CHECK_THROWS_WITH_AS(NamedSharding(mesh, P("x", "z")),
                       "there is no mesh axis 'z'; the mesh has x, y", ShardingError);
}

TEST_CASE("an axis that is named twice is refused, in one entry or in two") {
  Mesh const mesh({{"x", 2}, {"y", 4}});

  CHECK_THROWS_WITH_AS(NamedSharding(mesh, P("x", "x")),
                       "mesh axis 'x' is named twice in P(\"x\", \"x\"); an axis may cut one "
                       "dimension only",
                       ShardingError);
  CHECK_THROWS_WITH_AS(NamedSharding(mesh, P({"y", "y"})),
                       "mesh axis 'y' is named twice in P((\"y\", \"y\")); an axis may cut one "
                       "dimension only",
                       ShardingError);
}

TEST_CASE("a spec of more than eight entries is refused") {
  PartitionSpec const spec(std::vector<SpecEntry>(9, none));

  CHECK_THROWS_WITH_AS(NamedSharding(row(2), spec),
                       "P(none, none, none, none, none, none, none, none, none) has 9 entries; an "
                       "array has at most 8 dimensions",
                       ShardingError);
}

TEST_CASE("a list of cuts that does not fit the spec is refused") {
  CHECK_THROWS_WITH_AS(NamedSharding(row(2), P("x"), {Cut::ceil(), Cut::ceil()}),
                       "2 cuts for P(\"x\"), which has 1 entry; give one cut per entry, or one for "
                       "all",
                       ShardingError);
  CHECK_THROWS_WITH_AS(NamedSharding(row(2), P("x", none), std::vector<Cut>{Cut::ceil()}),
                       "1 cut for P(\"x\", none), which has 2 entries; give one cut per entry, or "
                       "one for all",
                       ShardingError);
}

TEST_CASE("a shape of another number of dimensions is refused") {
  CHECK_THROWS_WITH_AS(NamedSharding(row(2), P("x")).check({4, 4}),
                       "P(\"x\") has 1 entry but the array has 2 dimensions; add none for a "
                       "dimension that is not cut",
                       ShapeError);
  CHECK_THROWS_WITH_AS(NamedSharding(row(2), P("x", none)).check({4}),
                       "P(\"x\", none) has 2 entries but the array has 1 dimension; leave out the "
                       "entries without a dimension",
                       ShapeError);
  CHECK_THROWS_WITH_AS((void)NamedSharding(row(2), P()).shard_shape({4}),
                       "P() has 0 entries but the array has 1 dimension; add none for a dimension "
                       "that is not cut",
                       ShapeError);
}

TEST_CASE("along axes of partials devices hold the same boxes, which are no copies") {
  Mesh const mesh({{"x", 2}, {"y", 3}, {"z", 2}});
  NamedSharding const sharding(mesh, P("x").partial("y"));

  CHECK(sharding.replicas() == 2);
  CHECK(sharding.without_partial().replicas() == 6);
  CHECK(sharding.without_partial() == NamedSharding(mesh, P("x")));
  for (std::int64_t y = 0; y < 3; ++y)
    CHECK(sharding.box_of(DeviceId(2 * y), {4}) == Box{{0}, {2}});
  CHECK(sharding.replica_at(5) == 1);  // x 0, y 2, z 1
  CHECK(sharding.position_holding({1}, 1) == 7);
  CHECK_FALSE(sharding == sharding.without_partial());
  CHECK_FALSE(sharding.fingerprint() == sharding.without_partial().fingerprint());
}

TEST_CASE("an axis of partials that cuts the array, or is not of the mesh, is refused") {
  Mesh const mesh({{"x", 2}, {"y", 3}});

  CHECK_THROWS_WITH_AS(
      NamedSharding(mesh, P("x").partial("x")),
      "mesh axis 'x' is named twice in P(\"x\").partial(\"x\"); an axis may cut one "
      "dimension only",
      ShardingError);
  CHECK_THROWS_AS(NamedSharding(mesh, P("x").partial("q")), ShardingError);
}

TEST_CASE("a shape that is none is refused") {
  CHECK_THROWS_WITH_AS(NamedSharding(row(2), P("x")).check({-4}),
                       "the shape (-4,) has a negative extent; extents are 0 or more", ShapeError);
}

TEST_CASE("a dimension that cannot be cut so is refused with its axes") {
  Mesh const mesh({{"x", 2}, {"y", 4}});

  CHECK_THROWS_WITH_AS(
      NamedSharding(mesh, P("y"), Cut::strict()).check({10}),
      "array dimension 0 (10 cells) is cut 4 ways by mesh axis 'y': 10 cells cannot be cut 4 ways "
      "equally; use Cut::balanced() or pad to 12",
      ShardingError);
  CHECK_THROWS_WITH_AS(
      NamedSharding(mesh, P(none, {"x", "y"}), Cut::strict()).check({10, 1}),
      "array dimension 1 (1 cell) is cut 8 ways by mesh axes 'x', 'y': 1 cell cannot be cut 8 ways "
      "equally; use Cut::balanced() or pad to 8",
      ShardingError);
  CHECK_THROWS_WITH_AS(
      NamedSharding(mesh, P(none), {Cut::explicit_sizes({3, 2})}).check({5}),
      "array dimension 0 (5 cells) is cut 1 way by no mesh axis: explicit_sizes(3, 2) has 2 sizes "
      "for 1 piece; give one size per piece",
      ShardingError);
}

TEST_SUITE_END();
