#include "tessera/layout/layout.hpp"

#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/index/box.hpp"
#include "src/layout/count_visits.hpp"

#include "support/brute_force.hpp"
#include "support/count_allocations.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("layout/layout");

namespace {

Mesh row(std::int64_t devices) {
  return Mesh({{"x", devices}});
}

Layout cells_on_devices(std::int64_t cells, std::int64_t devices) {
  return {NamedSharding(row(devices), P("x")), {cells}};
}

Layout permuted() {
  Mesh const mesh({4, 6, 0, 2, 7, 3, 1, 5}, {4, 2}, {"data", "model"});
  return {NamedSharding(mesh, P("data", "model")), {4, 4}};
}

// "device box" of each owner of some cells, in the order of the visit.
std::string owners(Layout const& layout, Box const& cells, std::int64_t replica = 0) {
  std::vector<std::string> seen;
  layout.visit_owners(cells, replica, [&](DeviceId device, Box const& box) {
    seen.push_back(text(device, ' ', box));
  });
  return join(seen);
}

PartitionSpec random_spec(test::Random& random, std::vector<std::string> axes, std::size_t rank) {
  std::vector<std::vector<std::string>> entries(rank);
  for (; !axes.empty() && rank > 0; axes.pop_back()) {
    auto const d = random.between(-1, static_cast<std::int64_t>(rank) - 1);
    if (d < 0) continue;
    auto& entry = entries[static_cast<std::size_t>(d)];
    entry.insert(random.chance() ? entry.begin() : entry.end(), axes.back());
  }
  std::vector<SpecEntry> list;
  for (auto& entry : entries) list.emplace_back(std::move(entry));
  return PartitionSpec(std::move(list));
}

Layout random_layout(test::Random& random) {
  auto const rank = static_cast<std::size_t>(random.between(0, 3));
  Mesh mesh(
      {{"x", random.between(1, 3)}, {"y", random.between(1, 4)}, {"z", random.between(1, 2)}});
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(random.between(0, 7));
  auto const spec = random_spec(random, {"x", "y", "z"}, rank);
  auto const cut = random.chance() ? Cut::balanced() : Cut::ceil();
  NamedSharding const plain(mesh, spec, cut);
  if (random.chance()) return {plain, shape};
  std::vector<Cut> cuts;
  for (std::size_t d = 0; d < rank; ++d)
    cuts.push_back(test::random_cut(random, shape[d], plain.ways(d)));
  return {NamedSharding(mesh, spec, cuts), shape};
}

// What visit_owners should say, by asking every device of the mesh: its boxes by their first cell.
using Owners = std::map<std::pair<DeviceId, Index>, Box>;
Owners owners_by_asking_all(Layout const& layout, Box const& cells, std::int64_t replica) {
  Owners owners;
  for (std::int64_t p = 0; p < layout.mesh().size(); ++p) {
    auto const device = layout.mesh().device_at(p);
    if (layout.replica_of(device) != replica) continue;
    for (auto const& box : layout.boxes_of(device))
      if (intersects(box, cells)) owners.emplace(std::pair(device, box.lo), box);
  }
  return owners;
}

}  // namespace

TEST_CASE("a layout knows its shape, its cells and who holds what") {
  auto const layout = cells_on_devices(10, 3);

  CHECK(layout.shape() == Shape{10});
  CHECK(layout.rank() == 1);
  CHECK(layout.cells() == 10);
  CHECK(layout.mesh() == row(3));
  CHECK(layout.box_of(DeviceId{0}) == Box{{0}, {4}});
  CHECK(layout.box_of(DeviceId{2}) == Box{{7}, {10}});
  CHECK(layout.box_of(DeviceId{3}).empty());
}

TEST_CASE("the owners of some cells come in the order of their pieces, with all that they hold") {
  auto const layout = cells_on_devices(10, 3);

  CHECK(owners(layout, {{3}, {5}}) == "0 [0:4], 1 [4:7]");
  CHECK(owners(layout, {{4}, {5}}) == "1 [4:7]");
  CHECK(owners(layout, {{-7}, {99}}) == "0 [0:4], 1 [4:7], 2 [7:10]");
  CHECK(owners(layout, {{10}, {20}}).empty());
  CHECK(owners(layout, {{5}, {5}}).empty());
}

TEST_CASE("the owners on a permuted mesh are the devices that were listed there") {
  auto const layout = permuted();

  CHECK(owners(layout, {{1, 1}, {3, 2}}) == "0 [1:2, 0:2], 7 [2:3, 0:2]");
  CHECK(owners(layout, {{2, 1}, {4, 3}}) ==
        "7 [2:3, 0:2], 3 [2:3, 2:4], 1 [3:4, 0:2], 5 [3:4, 2:4]");
}

TEST_CASE("empty pieces between others own nothing and are not visited") {
  NamedSharding const sharding(row(4), P("x"), Cut::explicit_sizes({0, 2, 0, 3}));
  Layout const layout(sharding, {5});

  CHECK(owners(layout, {{0}, {5}}) == "1 [0:2], 3 [2:5]");
}

TEST_CASE("each copy has owners of its own") {
  Layout const layout(NamedSharding(Mesh({{"x", 2}, {"y", 3}}), P("x")), {4});

  CHECK(owners(layout, {{0}, {4}}, 0) == "0 [0:2], 3 [2:4]");
  CHECK(owners(layout, {{0}, {4}}, 2) == "2 [0:2], 5 [2:4]");
  CHECK(layout.replica_of(DeviceId{5}) == 2);
}

TEST_CASE("with axes first on one array dimension, then on the other, owners move along") {
  //  1 2   along rows: devices 0, 1; along columns: 0, 1; both, columns major: 0 2 / 1 3
  //  3 4
  Mesh const two({{"x", 2}});
  Mesh const four({{"x", 2}, {"y", 2}});

  CHECK(owners({NamedSharding(two, P("x", none)), {2, 2}}, whole({2, 2})) ==
        "0 [0:1, 0:2], 1 [1:2, 0:2]");
  CHECK(owners({NamedSharding(two, P(none, "x")), {2, 2}}, whole({2, 2})) ==
        "0 [0:2, 0:1], 1 [0:2, 1:2]");
  CHECK(owners({NamedSharding(four, P("x", "y")), {2, 2}}, whole({2, 2})) ==
        "0 [0:1, 0:1], 1 [0:1, 1:2], 2 [1:2, 0:1], 3 [1:2, 1:2]");
  CHECK(owners({NamedSharding(four, P("y", "x")), {2, 2}}, whole({2, 2})) ==
        "0 [0:1, 0:1], 2 [0:1, 1:2], 1 [1:2, 0:1], 3 [1:2, 1:2]");
}

TEST_CASE("a reader on the mesh takes from its own copy, others are spread over the copies") {
  Layout const layout(NamedSharding(Mesh({{"x", 2}, {"y", 3}}), P("x")), {4});

  CHECK(layout.replica_for(DeviceId{4}) == 1);
  CHECK(layout.replica_for(DeviceId{5}) == 2);
  CHECK(layout.replica_for(DeviceId{6}) == 0);
  CHECK(layout.replica_for(DeviceId{7}) == 1);
  CHECK(layout.replica_for(DeviceId{8}) == 2);
}

TEST_CASE("an array without dimensions has one owner per copy") {
  Layout const layout(NamedSharding(row(3), P()), {});

  CHECK(layout.cells() == 1);
  CHECK(owners(layout, Box{}, 0) == "0 []");
  CHECK(owners(layout, Box{}, 2) == "2 []");
  CHECK(owners(layout, Box::none(0), 0).empty());
}

TEST_CASE("an array without cells has no owners") {
  Layout const layout(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("x", "y")), {0, 5});

  CHECK(layout.cells() == 0);
  CHECK(owners(layout, whole({0, 5})).empty());
  CHECK(owners(layout, {{0, 0}, {9, 9}}).empty());
}

TEST_CASE("with more devices than cells only those with cells are owners") {
  CHECK(owners(cells_on_devices(2, 5), {{0}, {2}}) == "0 [0:1], 1 [1:2]");
}

TEST_CASE("an array of eight dimensions is cut like one of two") {
  Mesh const mesh({{"x", 2}, {"y", 2}});
  Layout const layout(NamedSharding(mesh, P("x", none, none, none, none, none, none, "y")),
                      {2, 1, 1, 1, 1, 1, 3, 2});

  CHECK(layout.cells() == 12);
  CHECK(layout.box_of(DeviceId{1}) == Box{{0, 0, 0, 0, 0, 0, 0, 1}, {1, 1, 1, 1, 1, 1, 3, 2}});
  CHECK(owners(layout, whole(layout.shape())).find("3 [1:2, 0:1,") != std::string::npos);
}

TEST_CASE("the owners of some cells are what asking every device finds, in row-major order") {
  test::Random random(test::seed_of_all(7));
  for (int round = 0; round < 2000; ++round) {
    auto const layout = random_layout(random);
    auto const cells = random.box(layout.rank(), -1, 8);
    auto const replica = random.between(0, layout.sharding().replicas() - 1);
    CAPTURE(layout);
    CAPTURE(cells);
    CAPTURE(replica);

    Owners seen;
    Index last;
    layout.visit_owners(cells, replica, [&](DeviceId device, Box const& box) {
      REQUIRE((seen.empty() || last < box.lo));
      last = box.lo;
      seen.emplace(std::pair(device, box.lo), box);
    });
    REQUIRE(seen == owners_by_asking_all(layout, cells, replica));

    std::set<DeviceId> visited;
    layout.visit_devices(cells, replica, Index(layout.rank(), -1), [&](DeviceId device) {
      REQUIRE(visited.insert(device).second);
      REQUIRE(layout.replica_of(device) == replica);
    });
    for (auto const& [owner, box] : seen) REQUIRE(visited.count(owner.first) == 1);
  }
}

TEST_CASE("the boxes of a device that meet some cells are what trying them all finds") {
  test::Random random(test::seed_of_all(23));
  for (int round = 0; round < 2000; ++round) {
    auto const layout = random_layout(random);
    auto const cells = random.box(layout.rank(), -1, 8);
    CAPTURE(layout);
    CAPTURE(cells);
    for (std::int64_t p = 0; p < layout.mesh().size(); ++p) {
      auto const device = layout.mesh().device_at(p);
      auto const boxes = layout.boxes_of(device);
      std::vector<std::size_t> meeting;
      for (std::size_t k = 0; k < boxes.size(); ++k)
        if (intersects(boxes[k], cells)) meeting.push_back(k);
      std::vector<std::size_t> met;
      layout.visit_boxes(device, cells, [&](std::size_t number, Box const& box) {
        met.push_back(number);
        REQUIRE(box == boxes[number]);
        REQUIRE(layout.box_holding(device, box.lo) == number);
      });
      REQUIRE(met == meeting);
      REQUIRE((layout.is_single_box() ? boxes.size() == 1 : !boxes.empty()));
    }
  }
}

//  12 cells, two ways                    10 cells in blocks of 3, two ways
//  gate [0:4]    up [4:12]               [0:3]  [3:6]  [6:9]  [9:10]
//   0  1          0    1                   0      1      0      1

TEST_CASE("a device owns its piece of every segment, or every block that it was dealt") {
  Layout const stacked(NamedSharding(row(2), P("x"), Cut::segments({4, 8})), {12});
  Layout const dealt(NamedSharding(row(2), P("x"), Cut::cyclic(3)), {10});

  CHECK_FALSE(stacked.is_single_box());
  CHECK(stacked.boxes_of(DeviceId{0}) == std::vector<Box>{{{0}, {2}}, {{4}, {8}}});
  CHECK(stacked.boxes_of(DeviceId{1}) == std::vector<Box>{{{2}, {4}}, {{8}, {12}}});
  CHECK(stacked.boxes_of(DeviceId{2}).empty());
  CHECK(stacked.sharding().shard_shape({12}) == Shape{6});
  CHECK(dealt.boxes_of(DeviceId{0}) == std::vector<Box>{{{0}, {3}}, {{6}, {9}}});
  CHECK(dealt.boxes_of(DeviceId{1}) == std::vector<Box>{{{3}, {6}}, {{9}, {10}}});
  CHECK(dealt.sharding().shard_shape({10}) == Shape{6});
  CHECK(dealt.box_holding(DeviceId{1}, {9}) == 1);
  CHECK(owners(dealt, {{2}, {7}}) == "0 [0:3], 1 [3:6], 0 [6:9]");
  CHECK_THROWS_AS((void)dealt.box_of(DeviceId{0}), ShardingError);
}

TEST_CASE("boxes of two dimensions count row by row, on a permuted mesh too") {
  Mesh const mesh({3, 1, 0, 2}, {2, 2}, {"data", "model"});
  Layout const layout(
      NamedSharding(mesh, P("data", "model"), {Cut::cyclic(1), Cut::segments({2, 4})}), {3, 6});

  // Device 1 is at (0, 1): rows 0 and 2, the second half of each segment.
  CHECK(layout.boxes_of(DeviceId{1}) ==
        std::vector<Box>{{{0, 1}, {1, 2}}, {{0, 4}, {1, 6}}, {{2, 1}, {3, 2}}, {{2, 4}, {3, 6}}});
  CHECK(layout.boxes_of(DeviceId{0}) == std::vector<Box>{{{1, 0}, {2, 1}}, {{1, 2}, {2, 4}}});
  CHECK(layout.sharding().shard_shape({3, 6}) == Shape{2, 3});
}

TEST_CASE("blocks that are enough for one round make one box per device") {
  Layout const dealt(NamedSharding(row(4), P("x"), Cut::cyclic(4)), {10});
  Layout const whole_array(NamedSharding(row(1), P("x"), Cut::segments({4, 8})), {12});

  CHECK(dealt.is_single_box());
  CHECK(dealt.box_of(DeviceId{2}) == Box{{8}, {10}});
  CHECK(dealt.box_of(DeviceId{3}).empty());
  CHECK(whole_array.box_of(DeviceId{0}) == Box{{0}, {12}});
  CHECK(NamedSharding(row(1), P("x"), Cut::cyclic(3)) == NamedSharding(row(1), P("x")));
}

TEST_CASE("a device of a long cyclic layout is asked for a few of its boxes only") {
  Layout const layout(NamedSharding(row(1000), P("x"), Cut::cyclic(10)), {100'000'000});
  std::vector<std::string> met;
  layout.visit_boxes(
      DeviceId{3}, {{50'000'000}, {50'020'000}},
      [&](std::size_t number, Box const& box) { met.push_back(text(number, ' ', box)); });
  CountVisits const visits;
  layout.visit_devices({{50'000'000}, {50'000'025}}, 0, {-1}, [](DeviceId) {});

  CHECK(join(met) == "5000 [50000030:50000040], 5001 [50010030:50010040]");
  CHECK(visits.devices() == 3);
}

TEST_CASE("more boxes than anybody plans with are refused") {
  CHECK_THROWS_WITH_AS(
      Layout(NamedSharding(row(2), P("x"), Cut::cyclic(1)), {1'000'000}),
      "on NamedSharding(Mesh(x=2), P(\"x\"), cyclic(1)) a device would hold more than 65536 boxes "
      "of an array of shape (1000000,); deal out larger blocks",
      ShardingError);
}

TEST_CASE("a neighbour's cell among a million devices is found by looking at two") {
  auto const layout = cells_on_devices(10'000'000, 1 << 20);
  auto const own = layout.box_of(DeviceId{524'288});
  test::CountAllocations const allocations;
  CountVisits const visits;
  std::int64_t sum = 0;

  layout.visit_owners(grown(own, {1}, {0}), 0, [&](DeviceId device, Box const& box) {
    sum += device.value() + box.cells();
  });

  auto const allocated = allocations.count();
  CHECK(visits.devices() == 2);
  CHECK(allocated == 0);
  CHECK(sum > 0);
}

TEST_CASE("a corner of a mesh of a billion devices is found by looking at four, without memory") {
  Mesh const mesh({{"x", 1024}, {"y", 1024}, {"z", 1024}});
  Layout const layout(NamedSharding(mesh, P("x", {"z", "y"})), {10'000, 10'000'000});
  test::CountAllocations const allocations;
  CountVisits const visits;
  std::int64_t met = 0;

  auto const own = layout.box_of(DeviceId{(512 << 20) + (512 << 10) + 512});
  layout.visit_owners(grown(own, {1, 1}, {0, 0}), 0, [&](DeviceId, Box const&) { ++met; });
  auto const& sharding = layout.sharding();
  auto const position = (1 << 29) + 12'345;
  auto const back =
      sharding.position_holding(sharding.pieces_at(position), sharding.replica_at(position));
  auto const reader = layout.replica_for(DeviceId{1 << 29});

  auto const allocated = allocations.count();
  CHECK(met == 4);
  CHECK(visits.devices() == 4);
  CHECK(allocated == 0);
  CHECK(back == position);
  CHECK(reader == 0);
}

TEST_CASE("making a layout allocates the same for any number of devices") {
  auto const allocations_for = [](std::int64_t devices) {
    auto const mesh = row(devices);
    test::CountAllocations const allocations;
    Layout const layout(NamedSharding(mesh, P("x")), {1000});
    return allocations.count();
  };

  CHECK(allocations_for(std::int64_t{1} << 40) == allocations_for(2));
}

TEST_CASE("visits are counted from when the counter was made, in this thread only") {
  CountVisits const outer;
  CountVisits::note();
  CountVisits const inner;
  CountVisits::note();
  std::thread(CountVisits::note).join();

  CHECK(outer.devices() == 2);
  CHECK(inner.devices() == 1);
}

TEST_CASE("layouts are equal if shape and sharding are") {
  CHECK(cells_on_devices(10, 3) == cells_on_devices(10, 3));
  CHECK_FALSE(cells_on_devices(10, 3) == cells_on_devices(9, 3));
  CHECK_FALSE(cells_on_devices(10, 3) == cells_on_devices(10, 2));
  CHECK(cells_on_devices(10, 3).fingerprint() != cells_on_devices(9, 3).fingerprint());
}

TEST_CASE("the fingerprint of a layout is the same on every process and in every run") {
  Layout const layout(NamedSharding(Mesh({{"x", 2}, {"y", 4}}), P("x", none)), {10, 4});

  CHECK(layout.fingerprint() == 10036119531104204965ULL);
}

TEST_CASE("a layout prints its shape and its sharding") {
  CHECK(text(cells_on_devices(10, 3)) == "Layout((10,), NamedSharding(Mesh(x=3), P(\"x\")))");
}

TEST_CASE("a shape that cannot lie so is refused") {
  CHECK_THROWS_WITH_AS(Layout(NamedSharding(row(2), P("x")), {4, 4}),
                       "P(\"x\") has 1 entry but the array has 2 dimensions; add none for a "
                       "dimension that is not cut",
                       ShapeError);
  CHECK_THROWS_WITH_AS(Layout(NamedSharding(row(4), P("x"), Cut::strict()), {10}),
                       "array dimension 0 (10 cells) is cut 4 ways by mesh axis 'x': 10 cells "
                       "cannot be cut 4 ways equally; use Cut::balanced() or pad to 12",
                       ShardingError);
}

TEST_CASE("a device that is not of the mesh holds no copy") {
  CHECK_THROWS_WITH_AS((void)cells_on_devices(4, 2).replica_of(DeviceId{2}),
                       "device 2 is not of Mesh(x=2)", ShardingError);
}

TEST_SUITE_END();
