#include "src/plan/exchange/forwarding.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/plan/exchange/exchange_plan.hpp"

#include "support/setting.hpp"

#include "cases.hpp"

using namespace tessera;
using test::list_of;
using test::make_layout;
using test::read_from_temporary;
using test::read_in_place;
using test::shifted_by;
using test::work_on;

TEST_SUITE_BEGIN("plan/forwarding");

namespace {

// All devices of a row read all cells, of which each owns its share.
ExchangePlan plan_of_copies(std::int64_t cells, Forwarding const& forwarding, std::int64_t device) {
  Mesh const row({{"x", forwarding.hosts.members}});
  auto const cut = make_layout(row, P("x"), {cells});
  return plan_exchange(std::vector{read_from_temporary(cut, shifted_by({0}))},
                       work_on(make_layout(row, P(none), {cells})), DeviceId{device}, forwarding);
}

std::string text_of(ExchangePlan const& plan) {
  return text("sends ", list_of(plan.sends), "; receives ", list_of(plan.receives), "; forwards ",
              list_of(plan.forwarded_sends), "; is forwarded ", list_of(plan.forwarded_receives));
}

std::int64_t cells_of(std::vector<Transfer> const& transfers) {
  std::int64_t cells = 0;
  for (auto const& transfer : transfers) cells += transfer.cells.count();
  return cells;
}

// Of what a device receives, the cells that come from other hosts.
std::int64_t cells_from_other_hosts(ExchangePlan const& plan, std::int64_t device,
                                    MemberHosts const& hosts) {
  std::int64_t cells = 0;
  for (auto const& transfer : plan.receives)
    if (hosts.host_of(transfer.peer.value()) != hosts.host_of(device))
      cells += transfer.cells.count();
  return cells;
}

}  // namespace

//   host 0            host 1
//  device 0    1     device 2    3
//  [0 1]    [2 3]    [4 5]    [6 7]

TEST_CASE("what both devices of a host read comes to one of them, which forwards it") {
  Forwarding const forwarding{{4, 2}, 0};

  CHECK(text_of(plan_of_copies(8, forwarding, 0)) ==
        "sends 1: [0:2], 2: [0:2]; receives 1: [2:4], 2: [4:6]; "
        "forwards 1: [4:6]; is forwarded 1: [6:8]");
  CHECK(text_of(plan_of_copies(8, forwarding, 3)) ==
        "sends 1: [6:8], 2: [6:8]; receives 1: [2:4], 2: [4:6]; "
        "forwards 2: [2:4]; is forwarded 2: [0:2]");
}

TEST_CASE("each cell crosses once to each other host, and every device has all cells") {
  for (std::int64_t const per_host : {1, 3, 8})
    for (std::int64_t devices = 2; devices <= 20; ++devices) {
      CAPTURE(per_host);
      CAPTURE(devices);
      Forwarding const forwarding{{devices, per_host}, 0};
      auto const cells = 5 * devices / 2;  // uneven shares
      std::map<std::int64_t, std::int64_t> crossed;
      for (std::int64_t device = 0; device < devices; ++device) {
        auto const plan = plan_of_copies(cells, forwarding, device);
        auto const own = cells_of(plan.copies);
        CHECK(own + cells_of(plan.receives) + cells_of(plan.forwarded_receives) == cells);
        auto const host = forwarding.hosts.host_of(device);
        crossed[host] += own + cells_from_other_hosts(plan, device, forwarding.hosts);
      }
      for (auto const& [host, count] : crossed) CHECK(count == cells);
    }
}

// The first axis counts hosts. Devices in pairs read the same columns; in one mesh they are
// neighbours, in the other one every second device.
TEST_CASE("the owners of a host are dealt out over the devices that share their cells") {
  for (auto const& grid : {Mesh({{"host", 2}, {"pair", 2}, {"copy", 2}}),
                           Mesh({{"host", 2}, {"copy", 2}, {"pair", 2}})})
    for (std::int64_t device = 0; device < 8; ++device) {
      CAPTURE(grid);
      CAPTURE(device);
      auto const owned = make_layout(grid, P({"host", "copy"}, "pair"), {8, 8});
      auto const wanted = make_layout(grid, P(none, "pair"), {8, 8});
      Forwarding const forwarding{{8, 4}, 0};
      auto const plan = plan_exchange(std::vector{read_from_temporary(owned, shifted_by({0, 0}))},
                                      work_on(wanted), DeviceId{device}, forwarding);
      CHECK(cells_from_other_hosts(plan, device, forwarding.hosts) == 8);
      CHECK(cells_of(plan.forwarded_sends) == 8);
      CHECK(cells_of(plan.forwarded_receives) == 8);
    }
}

TEST_CASE("ghost cells, different cells, and few cells come from their owner") {
  Mesh const row({{"x", 4}});
  auto const cut = make_layout(row, P("x"), {8});
  Forwarding const forwarding{{4, 2}, 0};
  auto const is_direct = [&](OperandUse const& operand, ComputePlacement const& place,
                             Forwarding const& how) {
    for (std::int64_t device = 0; device < 4; ++device) {
      auto const plan = plan_exchange(std::vector{operand}, place, DeviceId{device}, how);
      if (!plan.forwarded_sends.empty() || !plan.forwarded_receives.empty()) return false;
    }
    return true;
  };
  auto const copies = work_on(make_layout(row, P(none), {8}));
  auto read = read_from_temporary(cut, shifted_by({0}));
  read.element_bytes = 8;

  // In ghost cells both devices of a host read the cell past the end of the row.
  CHECK(is_direct(read_in_place(cut, shifted_by({7}, {8}, BoundaryKind::edge)), work_on(cut),
                  forwarding));
  CHECK(is_direct(read_from_temporary(cut, shifted_by({2})), work_on(cut, {{0}, {6}}), forwarding));
  CHECK(is_direct(read, copies, {{4, 2}, 17}));
  CHECK_FALSE(is_direct(read, copies, {{4, 2}, 16}));
  CHECK(is_direct(read, copies, {{4, 4}, 0}));
  CHECK(is_direct(read, copies, {}));
}

TEST_CASE("whether cells are forwarded follows from the hosts, the network and a variable") {
  Machine machine;
  machine.hosts = {8, 4};
  machine.costs.network_bytes = 1e9;
  machine.costs.messages = 1e5;
  CHECK(Forwarding::in_job(machine) == Forwarding{{8, 4}, 10'000});
  machine.costs.network_bytes = 1e300;
  CHECK(Forwarding::in_job(machine).least_bytes > std::int64_t{1} << 40);

  test::Setting const three("TESSERA_FORWARD", "3");
  CHECK(Forwarding::in_job(machine) == Forwarding{{8, 3}, 0});
  {
    test::Setting const most("TESSERA_FORWARD", "9223372036854775807");
    CHECK_FALSE(Forwarding::in_job(machine).applies());
  }
  test::Setting const none("TESSERA_FORWARD", "0");
  CHECK_FALSE(Forwarding::in_job(machine).applies());
  machine.hosts.members = 0;
  CHECK_FALSE(Forwarding::in_job(machine).applies());
}

TEST_SUITE_END();
