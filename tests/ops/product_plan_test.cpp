#include "src/ops/products/product_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/ops/products/relay_stops.hpp"

#include "support/brute_force.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using Names = std::vector<std::string>;

/// Where products are computed, and who adds which terms: arithmetic for devices that need not be
/// there.
TEST_SUITE_BEGIN("ops/product_plan");

namespace {

// (m, k) times (k, n).
ProductSizes matrices(Mesh const& mesh, std::int64_t m, std::int64_t n, std::int64_t k) {
  ProductSizes sizes{.mesh = mesh, .labels = {}};
  sizes.machine.costs.read_cells = sizes.machine.costs.messages = 1e15;  // as if they took no time
  sizes.labels.push_back({.extent = m, .in_a = true, .in_target = true});
  sizes.labels.push_back({.extent = n, .in_b = true, .in_target = true});
  sizes.labels.push_back({.extent = k, .in_a = true, .in_b = true});
  return sizes;
}

std::vector<RelayStop> all_stops(Cut const& cut, std::int64_t terms, std::int64_t devices) {
  RelayStops const stops(cut, terms, devices);
  std::vector<RelayStop> list;
  for (std::int64_t term = 0; term < terms; term = list.back().hi)
    list.push_back(stops.stop_of(term));
  return list;
}

}  // namespace

TEST_CASE("cells are computed where the target has them, if nothing is saved elsewhere") {
  auto sizes = matrices(Mesh({{"x", 4}}), 1024, 1024, 1024);
  sizes.labels[0].axes_a = sizes.labels[0].axes_target = {"x"};
  sizes.labels[2].axes_b = {"x"};
  auto const plan = plan_product(sizes);
  CHECK(plan.is_in_place(sizes));
  CHECK(plan.price.multiplications == 1024.0 * 1024 * 256);
  // Three quarters of b.
  CHECK(plan.price.received_bytes == 1024.0 * 768 * 8);
  CHECK(!plan.gathers_a(sizes));
  CHECK(plan.gathers_b(sizes));
  CHECK(plan.gathered_bytes(sizes) == 1024 * 1024 * 8);
}

TEST_CASE("devices that hold copies of the target share the work") {
  auto sizes = matrices(Mesh({{"x", 8}}), 2048, 2048, 2048);
  sizes.labels[0].axes_a = {"x"};
  auto const plan = plan_product(sizes);
  CHECK(plan.axes == std::vector<Names>{{"x"}, {}});
  CHECK(!plan.is_in_place(sizes));
}

TEST_CASE("where the terms are cut and long, the sums travel") {
  auto sizes = matrices(Mesh({{"x", 4}}), 512, 512, 65536);
  sizes.labels[2].axes_a = sizes.labels[2].axes_b = {"x"};
  auto const plan = plan_product(sizes);
  CHECK(plan.relay == Names{"x"});
  CHECK(plan.price.multiplications == 512.0 * 512 * 16384);
  CHECK(plan.price.turns < 1.5);
  // The sums so far, and all sums for the copies of the target.
  CHECK(plan.price.received_bytes == 2.0 * 512 * 512 * 8);
  // Sums that are rounded at the end cannot pass from device to device.
  sizes.may_cut_terms = false;
  CHECK(plan_product(sizes).relay.empty());
}

TEST_CASE("two axes cut rows and columns") {
  auto sizes = matrices(Mesh({{"x", 2}, {"y", 4}}), 4096, 4096, 4096);
  sizes.labels[0].axes_a = {"x"};
  sizes.labels[1].axes_b = {"y"};
  auto const plan = plan_product(sizes);
  CHECK(plan.axes == std::vector<Names>{{"x"}, {"y"}});
  CHECK(plan.price.multiplications == 4096.0 * 4096 * 4096 / 8);
}

TEST_CASE("a plan for a million devices") {
  auto sizes = matrices(Mesh({{"x", 1024}, {"y", 1024}}), 1 << 20, 1 << 20, 1 << 16);
  sizes.labels[0].axes_a = sizes.labels[0].axes_target = {"x"};
  sizes.labels[1].axes_b = sizes.labels[1].axes_target = {"y"};
  auto const plan = plan_product(sizes);
  CHECK(plan.is_in_place(sizes));
  CHECK(plan.price.received_bytes == 0);
}

TEST_CASE("each of many axes has a role") {
  Mesh const mesh({{"a", 2}, {"b", 2}, {"c", 2}, {"d", 2}, {"e", 2}, {"f", 2}, {"g", 2}});
  auto sizes = matrices(mesh, 64, 64, 64);
  sizes.labels[0].axes_a = sizes.labels[0].axes_target = {"a"};
  CHECK(plan_product(sizes).is_in_place(sizes));

  sizes = matrices(mesh, 8192, 8192, 8192);
  sizes.labels[0].axes_a = sizes.labels[0].axes_target = {"a"};
  auto const large = plan_product(sizes);
  CHECK(large.axes[0].size() + large.axes[1].size() == 7);
  CHECK(large.price.multiplications == 8192.0 * 8192 * 8192 / 128);

  Mesh const five({{"a", 2}, {"b", 2}, {"c", 2}, {"d", 2}, {"e", 2}});
  sizes = matrices(five, 512, 512, 65536);
  sizes.labels[2].axes_a = sizes.labels[2].axes_b = {"a"};
  auto const relayed = plan_product(sizes);
  CHECK(relayed.relay == Names{"a"});
  CHECK(relayed.price.multiplications == 512.0 * 512 * 65536 / 32);
}

TEST_CASE("between hosts the sums of a layer travel, not its weight") {
  auto sizes = matrices(Mesh({{"x", 8}}), 512, 2048, 5632);
  sizes.cell_bytes = 4;
  sizes.labels[2].axes_a = sizes.labels[2].axes_b = {"x"};
  sizes.machine.costs.network_bytes = 1.25e8;
  auto const on_one_host = plan_product(sizes);
  CHECK(on_one_host.relay.empty());
  CHECK(on_one_host.price.network_bytes == 0);

  sizes.machine.hosts = {8, 4};
  auto const on_two = plan_product(sizes);
  CHECK(on_two.relay == Names{"x"});
  CHECK(on_two.price.network_bytes == 2.0 * 512 * 2048 * 4);
  CHECK(on_two.price.seconds > on_one_host.price.seconds);

  // At 10 Gbit/s the relay would be less than 5 % faster.
  sizes.machine.costs.network_bytes = Costs().network_bytes;
  CHECK(plan_product(sizes).relay.empty());

  // Nor does it depend on what else has a price.
  sizes.machine.costs = {};
  CHECK(plan_product(sizes).roles(sizes.mesh).text() == "x=1");
  sizes.machine.costs.network_bytes = 1.25e8;
  CHECK(plan_product(sizes).relay == Names{"x"});
}

TEST_CASE("the hosts of a mesh are those of its devices") {
  // The first axis lies within a host; the second one crosses.
  Mesh const mesh({0, 4, 1, 5, 2, 6, 3, 7}, {4, 2}, {"x", "y"});
  auto sizes = matrices(mesh, 4096, 4096, 4096);
  sizes.labels[0].axes_a = sizes.labels[0].axes_target = {"y"};
  sizes.labels[2].axes_b = {"y"};
  sizes.labels[1].axes_target = {"x"};
  sizes.machine.hosts = {8, 4};
  auto const plan = plan_product(sizes);
  REQUIRE(plan.is_in_place(sizes));
  CHECK(plan.price.network_bytes == 4096.0 * 4096 * 8 / 2);
}

TEST_CASE("a host receives once what several of its devices need") {
  // b is cut over all devices; those of a host, along y, need the same half of the columns.
  auto sizes = matrices(Mesh({{"x", 2}, {"y", 4}}), 4096, 4096, 4096);
  sizes.labels[0].axes_a = sizes.labels[0].axes_target = {"y"};
  sizes.labels[1].axes_target = {"x"};
  sizes.labels[2].axes_b = {"x", "y"};
  sizes.machine.hosts = {8, 4};
  auto const plan = plan_product(sizes);
  REQUIRE(plan.is_in_place(sizes));
  CHECK(plan.price.received_bytes == 4096.0 * 2048 * 8 * 7 / 8);
  CHECK(plan.price.network_bytes == 4096.0 * 2048 * 8 / 2);
}

TEST_CASE("the runner-up is the best plan with other roles") {
  auto sizes = matrices(Mesh({{"one", 1}, {"x", 4}}), 512, 512, 65536);
  sizes.labels[2].axes_a = sizes.labels[2].axes_b = {"x"};
  sizes.labels[0].axes_target = {"one"};
  auto const plan = plan_product(sizes);
  CHECK(plan.roles(sizes.mesh).text() == "x=terms");
  REQUIRE(plan.runner_up);
  auto const& other = *plan.runner_up;
  CHECK(other.roles(sizes.mesh).text() == "x=1");  // as good as x=0
  CHECK(other.price.seconds > plan.price.seconds);

  // Cells of another kind cannot be computed elsewhere than in the target.
  sizes.may_leave_target = false;
  auto const own = plan_product(sizes);
  CHECK(own.is_in_place(sizes));
  CHECK(!own.runner_up);
}

TEST_CASE("operands are read once, and by each chunk of sums once more") {
  // All of a, and a few columns of b: half of the rows of a are read faster.
  auto thin = matrices(Mesh({{"x", 2}}), 2048, 32, 2048);
  thin.labels[1].axes_b = thin.labels[1].axes_target = {"x"};
  CHECK(plan_product(thin).is_in_place(thin));
  thin.machine.costs = {};
  auto const by_rows = plan_product(thin);
  CHECK(by_rows.axes == std::vector<Names>{{"x"}, {}});
  CHECK(by_rows.price.read_cells == 1024.0 * 2048 + 2048 * 32);
  // Half of b, and half of each device's columns.
  CHECK(by_rows.price.messages == 2);

  auto sizes = matrices(Mesh({{"x", 4}}), 512, 512, 65536);
  sizes.labels[2].axes_a = sizes.labels[2].axes_b = {"x"};
  auto const relayed = plan_product(sizes);
  REQUIRE(relayed.relay == Names{"x"});
  // Eight chunks of rows; three messages bring the sums to the copies of the target.
  CHECK(relayed.price.read_cells == (1 + 8) * 512.0 * 16384);
  CHECK(relayed.price.messages == 8 + 3);
}

TEST_CASE("a small product stays where its target is") {
  // Each device has all operands. Less work for each of 128 devices is not worth a message of each.
  auto sizes = matrices(Mesh({{"x", 128}}), 64, 64, 64);
  sizes.machine.costs = {};
  auto const plan = plan_product(sizes);
  CHECK(plan.is_in_place(sizes));
  CHECK(plan.price.messages == 0);
}

TEST_CASE("a target of very many boxes is not where the work is done") {
  auto sizes = matrices(Mesh({{"x", 2}}), 64, 64, 64);
  sizes.labels[0].axes_a = sizes.labels[0].axes_target = {"x"};
  CHECK(plan_product(sizes).price.received_bytes == 0);

  sizes.labels[0].scattered_a = sizes.labels[0].scattered_target = true;
  CHECK(plan_product(sizes).price.received_bytes == 0);
  sizes.may_stay_in_target = false;
  auto const plan = plan_product(sizes);
  CHECK(plan.axes == std::vector<Names>{{"x"}, {}});
  CHECK(!plan.is_in_place(sizes));
  // Of 32 rows of a, and of the target, a device has every second one; it has all of b.
  CHECK(plan.price.received_bytes == 2 * 16 * 64 * 8);
}

TEST_CASE("roles that are asked for are taken, or refused") {
  auto sizes = matrices(Mesh({{"x", 2}, {"y", 2}}), 512, 1, 65536);
  sizes.labels[2].axes_a = sizes.labels[2].axes_b = {"x"};
  auto const with = [&](std::vector<std::pair<std::string, AxisRole>> const& roles) {
    sizes.machine.roles = {};
    for (auto const& [axis, role] : roles) sizes.machine.roles.add(axis, role);
    return plan_product(sizes);
  };
  auto const in_place = with({{"x", computes_copies}, {"y", computes_copies}});
  CHECK(in_place.is_in_place(sizes));
  CHECK(!in_place.runner_up);
  CHECK(with({{"x", cuts_terms}, {"other", 3}}).relay == Names{"x"});
  CHECK(with({{"y", 0}}).axes[0].back() == "y");

  for (auto const& [axis, role] :
       std::vector<std::pair<std::string, AxisRole>>{{"y", cuts_terms},  // which cuts no terms
                                                     {"x", 1},           // of one cell
                                                     {"x", 2}}) {
    CAPTURE(axis);
    CAPTURE(role);
    CHECK_THROWS_WITH_AS((void)with({{axis, role}}), doctest::Contains("TESSERA_ROLES"),
                         UsageError);
  }
  // Each may be, but not both: a relay follows the whole cut of the terms.
  sizes.labels[2].axes_a = sizes.labels[2].axes_b = {"x", "y"};
  CHECK_THROWS_AS((void)with({{"x", cuts_terms}, {"y", 0}}), UsageError);
  // The place of the target may be asked for, whatever its extents.
  sizes = matrices(Mesh({{"x", 2}}), 512, 1, 64);
  sizes.labels[1].axes_target = {"x"};
  CHECK(with({{"x", 1}}).is_in_place(sizes));
  // The search over many axes takes them, too.
  sizes = matrices(Mesh({{"a", 2}, {"b", 2}, {"c", 2}, {"d", 2}, {"e", 2}}), 512, 512, 65536);
  CHECK(with({{"c", 1}, {"e", 0}, {"d", computes_copies}})
            .roles(sizes.mesh)
            .text()
            .ends_with("c=1,d=copies,e=0"));
}

namespace {

struct Regret {
  int plans = 0;
  int possible = 0;
};

// Forces each combination of roles of two axes: none has a lower price than the plan that is
// chosen, so the search leaves none out.
void compare_with_all_roles(ProductSizes sizes, Regret& regret) {
  auto const chosen = plan_product(sizes);
  ++regret.plans;
  for (AxisRole x : {computes_copies, cuts_terms, 0, 1})
    for (AxisRole y : {computes_copies, cuts_terms, 0, 1}) {
      if (sizes.mesh.axes()[1].size == 1 && y != computes_copies) continue;  // it has no role
      sizes.machine.roles = {};
      sizes.machine.roles.add("x", x);
      sizes.machine.roles.add("y", y);
      try {
        auto const forced = plan_product(sizes);
        ++regret.possible;
        CAPTURE(sizes.machine.roles.text());
        CHECK(chosen.price.seconds <= forced.price.seconds / 0.95);
      } catch (UsageError const&) {
      }
    }
}

}  // namespace

TEST_CASE("no plan is much cheaper than the one that is chosen") {
  struct Extents {
    std::int64_t m, n, k;
  };
  Regret regret;
  for (auto const& [m, n, k] : std::vector<Extents>{{512, 512, 512},
                                                    {4096, 4096, 4096},
                                                    {512, 2048, 5632},
                                                    {32, 2048, 5632},
                                                    {512, 512, 65536},
                                                    {4096, 64, 4096},
                                                    {64, 4096, 4096}})
    for (auto const& [x, y] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 1}, {4, 1}, {8, 1}, {2, 2}, {2, 4}})
      for (int cut = 0; cut < 3; ++cut)
        for (std::int64_t const hosts : {1, 2}) {
          auto sizes = matrices(Mesh({{"x", x}, {"y", y}}), m, n, k);
          sizes.machine.hosts = {x * y, x * y / hosts};
          auto& label = sizes.labels[static_cast<std::size_t>(cut)];
          label.axes_a = label.axes_b = label.axes_target = {"x"};
          compare_with_all_roles(sizes, regret);
        }
  CHECK(regret.plans == 7 * 5 * 3 * 2);
  CHECK(regret.possible > 3 * regret.plans);
}

TEST_CASE("terms are dealt out in order, in blocks") {
  CHECK(all_stops(Cut::balanced(), 1024, 2) == std::vector<RelayStop>{{0, 0, 512}, {1, 512, 1024}});
  // A border within a block: it belongs to the first device, which fetches what it lacks.
  CHECK(all_stops(Cut::balanced(), 1000, 2) ==
        std::vector<RelayStop>{{0, 0, 256}, {0, 256, 512}, {1, 512, 1000}});
  CHECK(all_stops(Cut::balanced(), 100, 4) == std::vector<RelayStop>{{0, 0, 100}});
  CHECK(all_stops(Cut::cyclic(256), 1024, 2) ==
        std::vector<RelayStop>{{0, 0, 256}, {1, 256, 512}, {0, 512, 768}, {1, 768, 1024}});
}

TEST_CASE("a device of a million knows its own stops and those that follow") {
  RelayStops const stops(Cut::balanced(), std::int64_t{1} << 28, std::int64_t{1} << 20);
  CHECK(stops.of_device(1000) ==
        std::vector<RelayStop>{{1000, 256'000, 256'256}, {1001, 256'256, 256'512}});
  CHECK(stops.of_device((1 << 20) - 1).size() == 1);
}

TEST_CASE("random cuts deal out every term once") {
  test::Random random(test::seed_of_all(3));
  for (int i = 0; i < 2000; ++i) {
    auto const terms = random.between(1, 3000);
    auto const devices = random.between(1, 9);
    auto const cut = test::random_cut(random, terms, devices);
    std::int64_t next = 0;
    bool is_right = true;
    for (auto const& stop : all_stops(cut, terms, devices)) {
      is_right = is_right && stop.lo == next && stop.hi > next && stop.lo % 256 == 0 &&
                 stop.device >= 0 && stop.device < devices;
      auto const pieces = cut.pieces_intersecting(terms, devices, stop.lo, stop.lo + 1);
      bool owns = false;
      for (auto p = pieces.lo; p < pieces.hi; ++p) {
        auto const piece = cut.piece(terms, devices, p);
        owns = owns || (piece.lo <= stop.lo && stop.lo < piece.hi && p % devices == stop.device);
      }
      is_right = is_right && owns;
      next = stop.hi;
    }
    INFO("case ", i);
    CHECK((is_right && next == terms));
  }
}

TEST_SUITE_END();
