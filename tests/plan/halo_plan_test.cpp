#include "src/plan/exchange/halo_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/box.hpp"
#include "src/layout/count_visits.hpp"
#include "src/plan/ghost.hpp"

#include "support/brute_force.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

#include "cases.hpp"

using namespace tessera;
using test::Broken;
using test::cells_on_devices;
using test::demand;
using test::make_layout;
using test::Random;
using test::SharedLayout;
using test::with_peer;

TEST_SUITE_BEGIN("plan/halo_plan");

namespace {

constexpr bool wrapping = true;

HaloNeed need_of(SharedLayout const& layout, GhostWidths const& widths, bool wraps = false) {
  return {layout, widths, InlineVector<bool, max_rank>(layout->rank(), wraps)};
}

std::string halo_of(std::vector<HaloNeed> const& needs, std::int64_t device) {
  return test::text_of(plan_halo(needs, DeviceId{device}));
}

}  // namespace

TEST_CASE("each device receives its neighbours' nearest cells") {
  std::vector const needs{need_of(cells_on_devices(10, 3), {{2}, {2}})};

  CHECK(halo_of(needs, 0) == "sends 1: [2:4]; receives 1: [4:6]");
  CHECK(halo_of(needs, 1) == "sends 0: [4:6], 2: [5:7]; receives 0: [2:4], 2: [7:9]");
  CHECK(halo_of(needs, 2) == "sends 1: [7:9]; receives 1: [5:7]");
}

TEST_CASE("widths differ below and above") {
  std::vector const needs{need_of(cells_on_devices(8, 2), {{1}, {3}})};

  CHECK(halo_of(needs, 0) == "sends 1: [3:4]; receives 1: [4:7]");
  CHECK(halo_of(needs, 1) == "sends 0: [4:7]; receives 0: [3:4]");
}

TEST_CASE("without widths nothing travels") {
  std::vector const needs{need_of(cells_on_devices(8, 2), GhostWidths::none(1), wrapping)};

  CHECK(halo_of(needs, 0) == "nothing");
}

TEST_CASE("an array that wraps on one device is copied around itself") {
  std::vector const needs{need_of(cells_on_devices(5, 1), {{2}, {1}}, wrapping)};

  CHECK(halo_of(needs, 0) == "copies 0: [3:5] as [-2:0], 0: [0:1] as [5:6]");
}

TEST_CASE("a halo may go around several times") {
  std::vector const needs{need_of(cells_on_devices(2, 1), {{3}, {0}}, wrapping)};

  CHECK(halo_of(needs, 0) == "copies 0: [1:2] as [-3:-2], 0: [0:2] as [-2:0]");
}

TEST_CASE("the ends of a row of devices are neighbours where it wraps") {
  std::vector const needs{need_of(cells_on_devices(6, 3), {{1}, {1}}, wrapping)};

  CHECK(halo_of(needs, 0) ==
        "sends 1: [1:2], 2: [0:1] as [6:7]; receives 1: [2:3], 2: [5:6] as [-1:0]");
  CHECK(halo_of(needs, 2) ==
        "sends 0: [5:6] as [-1:0], 1: [4:5]; receives 0: [0:1] as [6:7], 1: [3:4]");
}

TEST_CASE("a halo wider than the next device's box reaches over devices without cells") {
  auto const layout = cells_on_devices(8, 5, Cut::explicit_sizes({3, 0, 1, 0, 4}));
  std::vector const needs{need_of(layout, {{3}, {0}})};

  CHECK(halo_of(needs, 0) == "sends 2: [0:3], 4: [1:3]");
  CHECK(halo_of(needs, 1) == "nothing");
  CHECK(halo_of(needs, 2) == "sends 4: [3:4]; receives 0: [0:3]");
  CHECK(halo_of(needs, 4) == "receives 0: [1:3], 2: [3:4]");
}

TEST_CASE("the corners of a plane travel too") {
  auto const layout = make_layout(Mesh({{"y", 2}, {"x", 2}}), P("y", "x"), {4, 4});
  std::vector const needs{need_of(layout, {{0, 0}, {1, 1}})};

  CHECK(halo_of(needs, 0) == "receives 1: [0:2, 2:3], 2: [2:3, 0:2], 3: [2:3, 2:3]");
  CHECK(halo_of(needs, 3) == "sends 0: [2:3, 2:3], 1: [2:3, 2:4], 2: [2:4, 2:3]");
}

TEST_CASE("dimensions wrap each for itself") {
  auto const layout = make_layout(Mesh({{"x", 1}}), P(none, "x"), {3, 3});
  HaloNeed const need{layout, {{1, 1}, {1, 1}}, {false, true}};

  CHECK(halo_of({need}, 0) == "copies 0: [0:3, 2:3] as [0:3, -1:0], 0: [0:3, 0:1] as [0:3, 3:4]");
}

TEST_CASE("the cells of several arrays travel in one message per peer") {
  std::vector const needs{need_of(cells_on_devices(8, 2), {{0}, {1}}),
                          need_of(cells_on_devices(8, 2), {{1}, {2}})};

  CHECK(halo_of(needs, 0) == "sends 1 leaf 1: [3:4]; receives 1: [4:5], 1 leaf 1: [4:6]");
  CHECK(halo_of(needs, 1) == "sends 0: [4:5], 0 leaf 1: [4:6]; receives 0 leaf 1: [3:4]");
}

TEST_CASE("each copy of an array keeps to itself") {
  auto const layout = make_layout(Mesh({{"copy", 2}, {"x", 2}}), P("x"), {8});
  std::vector const needs{need_of(layout, {{1}, {1}})};

  CHECK(halo_of(needs, 0) == "sends 1: [3:4]; receives 1: [4:5]");
  CHECK(halo_of(needs, 3) == "sends 2: [4:5]; receives 2: [3:4]");
}

TEST_CASE("arrays that lie on other devices concern nobody else") {
  Mesh const last({3, 2}, {2}, {"x"});
  std::vector const needs{need_of(cells_on_devices(8, 2), {{1}, {0}}),
                          need_of(make_layout(last, P("x"), {8}), {{1}, {0}})};

  CHECK(halo_of(needs, 1) == "receives 0: [3:4]");
  CHECK(halo_of(needs, 2) == "receives 3 leaf 1: [3:4]");
  CHECK(halo_of(needs, 4) == "nothing");
}

TEST_CASE("an array without cells has no ghost cells") {
  std::vector const needs{need_of(cells_on_devices(0, 2), {{1}, {1}}, wrapping)};

  CHECK(halo_of(needs, 0) == "nothing");
}

namespace {

struct Cost {
  std::int64_t devices_visited = 0;
  std::size_t transfers = 0;
  friend bool operator==(Cost const&, Cost const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Cost const& cost) {
    return out << cost.devices_visited << " devices visited, " << cost.transfers << " transfers";
  }
};

// Of a cube of devices with 4 cells each along every dimension, for a device at one place.
Cost cost_in_cube(std::int64_t devices_along, std::int64_t place, bool wraps) {
  Mesh const mesh({{"x", devices_along}, {"y", devices_along}, {"z", devices_along}});
  auto const cells = 4 * devices_along;
  auto const layout = make_layout(mesh, P("x", "y", "z"), {cells, cells, cells});
  std::vector const needs{need_of(layout, {Index(3, 5), Index(3, 6)}, wraps)};
  auto const self = mesh.device_at(mesh.position({place, place, place}));
  CountVisits const visits;

  auto const plan = plan_halo(needs, self);

  return {visits.devices(), plan.sends.size() + plan.receives.size()};
}

}  // namespace

// Two devices on each side give and take: 124 partners.
TEST_CASE("a plan in a cube costs the same for a few devices and for a million") {
  auto const of_few = cost_in_cube(9, 4, false);

  CHECK(of_few.transfers == 2 * 124);
  CHECK(of_few.devices_visited < 10 * 124);
  CHECK(cost_in_cube(100, 50, false) == of_few);
  CHECK(cost_in_cube(100, 50, true) == of_few);
  CHECK(cost_in_cube(100, 0, true).transfers == of_few.transfers);
}

TEST_CASE("a plan in a row of a million devices visits its partners only") {
  auto const layout = cells_on_devices(4'000'000, 1'000'000);
  std::vector const needs{need_of(layout, {{4}, {4}}, wrapping)};
  for (std::int64_t const device : {0, 500'000, 999'999}) {
    CountVisits const visits;

    auto const plan = plan_halo(needs, DeviceId{device});

    CHECK(plan.sends.size() == 2);
    CHECK(plan.receives.size() == 2);
    CHECK(visits.devices() <= 12);
  }
}

namespace {

HaloNeed random_need(Random& random) {
  constexpr std::array<std::int64_t, 4> most{0, 16, 7, 4};
  auto const rank = static_cast<std::size_t>(random.between(1, 3));
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d)
    shape.push_back(random.between(random.between(0, 9) == 0 ? 0 : 1, most[rank]));
  auto sharding = test::random_sharding(random, 6, shape);
  while (!sharding.is_single_box(shape)) sharding = test::random_sharding(random, 6, shape);
  HaloNeed need{std::make_shared<Layout const>(sharding, shape), GhostWidths::none(rank), {}};
  for (std::size_t d = 0; d < rank; ++d) {
    auto const wide = random.between(0, 7) == 0 ? 2 * most[rank] : 2;
    need.widths.below[d] = random.between(0, wide);
    need.widths.above[d] = random.between(0, wide);
    need.wraps.push_back(random.chance());
  }
  return need;
}

// Which cell of the array a device should be given for each place, by looking at every place.
std::map<Index, Index> ghosts_of(HaloNeed const& need, DeviceId device) {
  std::map<Index, Index> ghosts;
  auto const own = need.owned->box_of(device);
  if (own.empty()) return ghosts;
  auto const& shape = need.owned->shape();
  test::for_each_cell(grown(own, need.widths.below, need.widths.above), [&](Index const& place) {
    auto cell = place;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (need.wraps[d]) cell[d] = floor_mod(place[d], shape[d]);
    if (!own.contains(place) && whole(shape).contains(cell)) ghosts[place] = cell;
  });
  return ghosts;
}

class Halo {
 public:
  explicit Halo(std::vector<HaloNeed> needs) : needs_(std::move(needs)) {
    for (std::int64_t device = 0; device < devices; ++device)
      plans_.push_back(plan_halo(needs_, DeviceId{device}));
  }

  void check() const {
    for (std::int64_t device = 0; device < devices; ++device) {
      check_arrivals(DeviceId{device});
      check_order(plan_of(device).sends);
      check_order(plan_of(device).receives);
      for (std::int64_t peer = 0; peer < devices; ++peer)
        check_ends(DeviceId{device}, DeviceId{peer});
    }
  }

 private:
  static constexpr std::int64_t devices = 7;  // one more than meshes have

  ExchangePlan const& plan_of(std::int64_t device) const {
    return plans_[static_cast<std::size_t>(device)];
  }

  static void check_order(std::vector<Transfer> const& transfers) {
    auto const before = [](Transfer const& a, Transfer const& b) {
      return std::pair(a.peer, a.operand) < std::pair(b.peer, b.operand);
    };
    demand(std::is_sorted(transfers.begin(), transfers.end(), before), "the order is ",
           join(transfers));
  }

  void check_ends(DeviceId sender, DeviceId receiver) const {
    auto const sent = with_peer(plan_of(sender.value()).sends, receiver);
    auto const received = with_peer(plan_of(receiver.value()).receives, sender);
    demand(sent == received, "device ", sender, " sends ", join(sent), ", device ", receiver,
           " receives ", join(received));
    demand(sender != receiver || sent.empty(), "device ", sender, " sends to itself");
  }

  void check_arrivals(DeviceId device) const {
    std::vector<std::map<Index, Index>> missing;
    for (auto const& need : needs_) missing.push_back(ghosts_of(need, device));
    auto const& plan = plan_of(device.value());
    for (auto const& transfer : plan.receives) take(device, transfer, missing);
    for (auto const& transfer : plan.copies) {
      demand(transfer.peer == device, "device ", device, " copies from ", transfer);
      take(device, transfer, missing);
    }
    for (auto const& places : missing)
      demand(places.empty(), "device ", device, " lacks ", places.size(), " cells");
  }

  void take(DeviceId device, Transfer const& transfer,
            std::vector<std::map<Index, Index>>& missing) const {
    auto const& owned = *needs_.at(transfer.operand).owned;
    demand(owned.replica_of(transfer.peer) == owned.replica_for(device), "device ", device,
           " takes another copy's ", transfer);
    auto const given = owned.box_of(transfer.peer);
    test::for_each_cell(transfer.cells.lattice, [&](Index const& l) {
      Index cell;
      Index place;
      for (std::size_t d = 0; d < l.size(); ++d) {
        auto const& axis = transfer.cells.axes[d];
        cell.push_back(axis.cell + axis.stride * l[d]);
        place.push_back(axis.frame + axis.stride * l[d]);
      }
      auto& places = missing[transfer.operand];
      auto const found = places.find(place);
      demand(found != places.end() && found->second == cell, "device ", device, " is given ", cell,
             " for ", place, " by ", transfer);
      demand(given.contains(cell), "the peer has no cell ", cell, ": ", transfer);
      places.erase(found);
    });
  }

  std::vector<HaloNeed> needs_;
  std::vector<ExchangePlan> plans_;
};

bool run_case(std::uint64_t seed) {
  Random random(seed);
  std::vector<HaloNeed> needs;
  for (auto count = random.between(1, 3); count > 0; --count) needs.push_back(random_need(random));
  try {
    Halo(needs).check();
  } catch (Broken const& broken) {
    std::string described;
    for (auto const& need : needs)
      described += text("\n  ", *need.owned, ", ", need.widths, ", wraps ", need.wraps);
    MESSAGE(broken.what, described);
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("every ghost cell arrives once, from who owns it") {
  CHECK(test::failed_seeds(2'000, run_case) == 0);
}

TEST_SUITE_END();
