#include "src/plan/exchange/exchange_plan.hpp"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/plan/ghost.hpp"

#include "cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::list_of;
using test::make_layout;
using test::plan_of;
using test::read_from_temporary;
using test::read_in_place;
using test::shifted_by;
using test::text_of;
using test::work_on;

TEST_SUITE_BEGIN("plan/exchange");

namespace {

constexpr auto periodic = BoundaryKind::periodic;
constexpr auto edge = BoundaryKind::edge;
constexpr auto constant = BoundaryKind::constant;

// The offsets of a stencil of reach 1: the cross, or the full square around a cell.
std::vector<Index> cross() {
  return {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
}
std::vector<Index> square() {
  std::vector<Index> offsets;
  for (std::int64_t a = -1; a <= 1; ++a)
    for (std::int64_t b = -1; b <= 1; ++b) offsets.push_back({a, b});
  return offsets;
}

std::vector<OperandUse> stencil(test::SharedLayout const& layout,
                                std::vector<Index> const& offsets) {
  std::vector<OperandUse> operands;
  for (auto const& offset : offsets) operands.push_back(read_in_place(layout, shifted_by(offset)));
  return operands;
}

// "peer: cells" for each peer of a list.
std::string cells_by_peer(std::vector<Transfer> const& transfers) {
  std::map<DeviceId, std::int64_t> cells;
  for (auto const& transfer : transfers) cells[transfer.peer] += transfer.cells.count();
  std::vector<std::string> words;
  for (auto const& [peer, count] : cells) words.push_back(text(peer, ": ", count));
  return join(words);
}

}  // namespace

//  device 0    device 1    device 2
//  [0 1 2 3]   [4 5 6]     [7 8 9]

TEST_CASE("reading the right neighbour's cell takes one from it and gives one to the left") {
  auto const cells = cells_on_devices(10, 3);
  auto const place = work_on(cells, {{0}, {9}});
  std::vector<OperandUse> const operands{read_in_place(cells, shifted_by({1}))};

  CHECK(plan_of(operands, place, 0) == "receives 1: [4:5]");
  CHECK(plan_of(operands, place, 1) == "sends 0: [4:5]; receives 2: [7:8]");
  CHECK(plan_of(operands, place, 2) == "sends 1: [7:8]");
}

TEST_CASE("a transfer is a value: peer, leaf, and cells with their places") {
  auto const cells = cells_on_devices(10, 3);
  auto const place = work_on(cells, {{0}, {9}});

  auto const plan =
      plan_exchange(std::vector{read_in_place(cells, shifted_by({1}))}, place, DeviceId{1});

  // Index 3 of device 0 reads cell 4; index 6 of device 1 reads cell 7.
  CHECK(plan.sends == std::vector<Transfer>{{DeviceId{0}, 0, {{{3}, {4}}, {{1, 1, 1}}}}});
  CHECK(plan.receives == std::vector<Transfer>{{DeviceId{2}, 0, {{{6}, {7}}, {{1, 1, 1}}}}});
  CHECK(plan.sends.front().cells.count() == 1);
  CHECK(text(plan.sends.front()) == "{device 0, operand 0, [4:5]}");
}

TEST_CASE("reading one's own cells communicates nothing") {
  auto const cells = cells_on_devices(10, 3);

  for (std::int64_t device = 0; device < 3; ++device)
    CHECK(plan_of({read_in_place(cells, shifted_by({0}))}, work_on(cells), device) == "nothing");
}

TEST_CASE("a shift longer than a shard reads from the shards behind it") {
  auto const cells = cells_on_devices(10, 3);
  auto const place = work_on(cells, {{0}, {5}});
  std::vector<OperandUse> const operands{read_from_temporary(cells, shifted_by({5}))};

  CHECK(plan_of(operands, place, 0) == "receives 1: [5:7], 2: [7:9]");
  CHECK(plan_of(operands, place, 1) == "sends 0: [5:7]; receives 2: [9:10]");
  CHECK(plan_of(operands, place, 2) == "sends 0: [7:9], 1: [9:10]");
}

TEST_CASE("a periodic shift longer than the array wraps around it") {
  auto const cells = cells_on_devices(10, 3);
  std::vector<OperandUse> const operands{
      read_from_temporary(cells, shifted_by({13}, {10}, periodic))};

  CHECK(plan_of(operands, work_on(cells), 0) ==
        "sends 2: [0:3] as [20:23]; receives 1: [4:7] as [14:17]; copies 0: [3:4] as [13:14]");
  CHECK(plan_of(operands, work_on(cells), 1) ==
        "sends 0: [4:7] as [14:17]; receives 2: [7:10] as [17:20]");
  CHECK(plan_of(operands, work_on(cells), 2) ==
        "sends 1: [7:10] as [17:20]; receives 0: [0:3] as [20:23]");
}

TEST_CASE("two devices of a ring exchange both ends in one message") {
  auto const cells = cells_on_devices(8, 2);
  std::vector<OperandUse> const operands{read_in_place(cells, shifted_by({-1}, {8}, periodic)),
                                         read_in_place(cells, shifted_by({1}, {8}, periodic))};

  CHECK(plan_of(operands, work_on(cells), 0) ==
        "sends 1: [3:4], 1 leaf 1: [0:1] as [8:9]; "
        "receives 1: [7:8] as [-1:0], 1 leaf 1: [4:5]");
  CHECK(plan_of(operands, work_on(cells), 1) ==
        "sends 0: [7:8] as [-1:0], 0 leaf 1: [4:5]; "
        "receives 0: [3:4], 0 leaf 1: [0:1] as [8:9]");
}

TEST_CASE("a periodic array of one device copies from itself") {
  auto const cells = cells_on_devices(8, 1);
  std::vector<OperandUse> const operands{read_in_place(cells, shifted_by({-1}, {8}, periodic)),
                                         read_in_place(cells, shifted_by({1}, {8}, periodic))};

  CHECK(plan_of(operands, work_on(cells), 0) ==
        "copies 0: [7:8] as [-1:0], 0 leaf 1: [0:1] as [8:9]");
}

TEST_CASE("devices without cells take no part") {
  auto const cells = cells_on_devices(3, 8);
  std::vector<OperandUse> const operands{read_in_place(cells, shifted_by({1}, {3}, periodic))};

  CHECK(plan_of(operands, work_on(cells), 1) == "sends 0: [1:2]; receives 2: [2:3]");
  CHECK(plan_of(operands, work_on(cells), 2) == "sends 1: [2:3]; receives 0: [0:1] as [3:4]");
  for (std::int64_t device = 3; device < 9; ++device)
    CHECK(plan_of(operands, work_on(cells), device) == "nothing");
}

TEST_CASE("a neighbour without cells is passed over") {
  auto const cells = cells_on_devices(6, 4, Cut::explicit_sizes({3, 0, 0, 3}));
  std::vector<OperandUse> const operands{read_in_place(cells, shifted_by({1}))};
  auto const place = work_on(cells, {{0}, {5}});

  CHECK(plan_of(operands, place, 0) == "receives 3: [3:4]");
  CHECK(plan_of(operands, place, 1) == "nothing");
  CHECK(plan_of(operands, place, 3) == "sends 0: [3:4]");
}

TEST_CASE("an array without cells communicates nothing") {
  auto const cells = cells_on_devices(0, 3);

  CHECK(plan_of({read_in_place(cells, shifted_by({0}))}, work_on(cells), 1) == "nothing");
}

TEST_CASE("pieces go by the places of a permuted device list, not by ids") {
  auto const cells = make_layout(Mesh({3, 1, 2}, {3}, {"x"}), P("x"), {10});
  auto const place = work_on(cells, {{0}, {9}});
  std::vector<OperandUse> const operands{read_in_place(cells, shifted_by({1}))};

  CHECK(plan_of(operands, place, 1) == "sends 3: [4:5]; receives 2: [7:8]");
  CHECK(plan_of(operands, place, 3) == "receives 1: [4:5]");
  CHECK(plan_of(operands, place, 0) == "nothing");
}

TEST_CASE("an edge cell is sent once for all the cells that repeat it") {
  auto const cells = cells_on_devices(10, 3);
  std::vector<OperandUse> const operands{read_from_temporary(cells, shifted_by({6}, {10}, edge))};

  CHECK(plan_of(operands, work_on(cells), 0) == "receives 1: [6:7], 2: [7:10]");
  CHECK(plan_of(operands, work_on(cells), 1) == "sends 0: [6:7]; receives 2: [9:10]");
}

TEST_CASE("an edge cell goes once to every device that repeats it, also beside itself") {
  auto const cells = cells_on_devices(10, 3);
  std::vector<OperandUse> const operands{read_from_temporary(cells, shifted_by({8}, {10}, edge))};

  CHECK(plan_of(operands, work_on(cells), 0) == "receives 2: [8:10]");
  CHECK(plan_of(operands, work_on(cells), 1) == "receives 2: [9:10]");
  CHECK(plan_of(operands, work_on(cells), 2) == "sends 0: [8:10], 1: [9:10]");
}

TEST_CASE("a constant past the edge is not sent") {
  auto const cells = cells_on_devices(10, 3);
  std::vector<OperandUse> const operands{read_in_place(cells, shifted_by({1}, {10}, constant))};

  CHECK(plan_of(operands, work_on(cells), 1) == "sends 0: [4:5]; receives 2: [7:8]");
  CHECK(plan_of(operands, work_on(cells), 2) == "sends 1: [7:8]");
}

TEST_CASE("a strided need sends the cells it reads and none between") {
  auto const cells = cells_on_devices(10, 2);
  auto const results = cells_on_devices(5, 2);
  std::vector<OperandUse> const operands{
      read_from_temporary(cells, Access::plain({1, {{0, 3, 2}}}))};
  auto const place = work_on(results, {{0}, {3}});

  auto const plan = plan_exchange(operands, place, DeviceId{0});

  CHECK(text_of(plan) == "receives 1: [5:8] step 2 along 0; copies 0: [3:4] step 2 along 0");
  CHECK(cells_by_peer(plan.receives) == "1: 2");
}

TEST_CASE("a reversed array is sent from end to end, in the order of its cells") {
  auto const cells = cells_on_devices(6, 3);
  std::vector<OperandUse> const operands{
      read_from_temporary(cells, Access::plain({1, {{0, 5, -1}}}))};

  CHECK(plan_of(operands, work_on(cells), 0) == "sends 2: [0:2]; receives 2: [4:6]");
  CHECK(plan_of(operands, work_on(cells), 1) == "nothing");
}

//  rows 0-3 on device 0, rows 4-7 on device 1

TEST_CASE("a mirror at the edge is read from own cells and ghost cells") {
  auto const cells = cells_on_devices(6, 3);
  auto const left = shifted_by({-2}, {6}, BoundaryKind::reflect);
  auto const right = shifted_by({1}, {6}, BoundaryKind::symmetric);

  // Device 0 reads cells 2 1 0 1 ... past its edge: cell 2 is device 1's.
  CHECK(plan_of({read_in_place(cells, left)}, work_on(cells), 0) ==
        "sends 1: [0:2]; receives 1: [2:3] step -1 along 0");
  CHECK(plan_of({read_in_place(cells, left)}, work_on(cells), 2) == "receives 1: [2:4]");
  CHECK(plan_of({read_in_place(cells, right)}, work_on(cells), 2) == "sends 1: [4:5]");
}

TEST_CASE("one row read by all is sent in the pieces that each needs") {
  auto const rows = make_layout(Mesh({{"x", 2}}), P("x", none), {8, 4});
  auto const results = cells_on_devices(4, 2);
  std::vector<OperandUse> const operands{
      read_from_temporary(rows, Access::plain({1, {{AxisMap::fixed, 5, 1}, {0, 0, 1}}}))};

  CHECK(plan_of(operands, work_on(results), 0) == "receives 1: [5:6, 0:2]");
  CHECK(plan_of(operands, work_on(results), 1) == "sends 0: [5:6, 0:2]");
}

TEST_CASE("a row that is repeated is sent once to every device that repeats it") {
  auto const row = cells_on_devices(3, 2);
  auto const results = make_layout(Mesh({{"x", 2}}), P("x", none), {4, 3});
  std::vector<OperandUse> const operands{read_from_temporary(row, Access::plain({2, {{1, 0, 1}}}))};

  CHECK(plan_of(operands, work_on(results), 0) ==
        "sends 1: [0:2]; receives 1: [2:3]; copies 0: [0:2]");
  CHECK(plan_of(operands, work_on(results), 1) ==
        "sends 0: [2:3]; receives 0: [0:2]; copies 1: [2:3]");
}

TEST_CASE("a transpose sends each device the block that it lacks") {
  auto const rows = make_layout(Mesh({{"x", 2}}), P("x", none), {4, 4});
  std::vector<OperandUse> const operands{
      read_from_temporary(rows, Access::plain({2, {{1, 0, 1}, {0, 0, 1}}}))};

  CHECK(plan_of(operands, work_on(rows), 0) ==
        "sends 1: [0:2, 2:4]; receives 1: [2:4, 0:2]; copies 0: [0:2, 0:2]");
}

TEST_CASE("one cell assigned to one cell is one message") {
  auto const cells = cells_on_devices(10, 3);
  ComputePlacement const place{cells, {0, {{AxisMap::fixed, 8, 1}}}, whole({})};
  std::vector<OperandUse> const operands{
      read_from_temporary(cells, Access::plain({0, {{AxisMap::fixed, 1, 1}}}))};

  CHECK(plan_of(operands, place, 0) == "sends 2: [1:2]");
  CHECK(plan_of(operands, place, 1) == "nothing");
  CHECK(plan_of(operands, place, 2) == "receives 0: [1:2]");
}

TEST_CASE("an array of one cell goes to the devices that do not hold it") {
  auto const one = make_layout(Mesh({0, 1}, {2}, {"x"}), P(), {});
  auto const results = make_layout(Mesh({1, 2}, {2}, {"x"}), P("x"), {4});
  std::vector<OperandUse> const operands{read_from_temporary(one, Access::plain({1, {}}))};

  CHECK(plan_of(operands, work_on(results), 0) == "sends 2: []");
  CHECK(plan_of(operands, work_on(results), 1) == "nothing");
  CHECK(plan_of(operands, work_on(results), 2) == "receives 0: []");
  CHECK(plan_of(operands, work_on(results), 3) == "nothing");
}

TEST_CASE("replicated to sharded sends nothing") {
  Mesh const mesh({{"x", 4}});
  auto const copies = make_layout(mesh, P(none), {10});
  auto const shards = make_layout(mesh, P("x"), {10});

  for (std::int64_t device = 0; device < 4; ++device) {
    CHECK(plan_of({read_in_place(copies, shifted_by({0}))}, work_on(shards), device) == "nothing");
    auto const plan = plan_exchange(std::vector{read_from_temporary(copies, shifted_by({0}))},
                                    work_on(shards), DeviceId{device});
    CHECK(plan.sends.empty());
    CHECK(plan.receives.empty());
  }
}

TEST_CASE("sharded to replicated sends every piece to every other device") {
  Mesh const mesh({{"x", 3}});
  auto const shards = make_layout(mesh, P("x"), {6});
  auto const copies = make_layout(mesh, P(none), {6});

  CHECK(plan_of({read_from_temporary(shards, shifted_by({0}))}, work_on(copies), 1) ==
        "sends 0: [2:4], 2: [2:4]; receives 0: [0:2], 2: [4:6]; copies 1: [2:4]");
}

//  u: device 0 1 hold [0 1], 2 3 hold [2 3]     v: 0 2 hold [0 1], 1 3 hold [2 3]

TEST_CASE("a reader takes cells from the copy that it belongs to itself") {
  Mesh const mesh({{"x", 2}, {"y", 2}});
  auto const u = make_layout(mesh, P("x"), {4});
  auto const v = make_layout(mesh, P("y"), {4});
  std::vector<OperandUse> const operands{read_from_temporary(u, shifted_by({0}))};

  CHECK(plan_of(operands, work_on(v), 0) == "sends 2: [0:2]");
  CHECK(plan_of(operands, work_on(v), 1) == "receives 3: [2:4]");
  CHECK(plan_of(operands, work_on(v), 2) == "receives 0: [0:2]");
  CHECK(plan_of(operands, work_on(v), 3) == "sends 1: [2:4]");
}

TEST_CASE("readers on other devices are spread over the copies") {
  auto const copies = make_layout(Mesh({0, 1}, {2}, {"x"}), P(none), {4});
  auto const results = make_layout(Mesh({2, 3}, {2}, {"x"}), P("x"), {4});
  std::vector<OperandUse> const operands{read_from_temporary(copies, shifted_by({0}))};

  CHECK(plan_of(operands, work_on(results), 0) == "sends 2: [0:2]");
  CHECK(plan_of(operands, work_on(results), 1) == "sends 3: [2:4]");
  CHECK(plan_of(operands, work_on(results), 2) == "receives 0: [0:2]");
  CHECK(plan_of(operands, work_on(results), 3) == "receives 1: [2:4]");
}

//   0  1  2  3      each 2 x 2 cells of 4 x 8
//   4  5  6  7

TEST_CASE("a five-point stencil sends nothing diagonally") {
  auto const grid = make_layout(Mesh({{"x", 2}, {"y", 4}}), P("x", "y"), {4, 8});
  auto const operands = stencil(grid, cross());
  auto const place = work_on(grid, {{1, 1}, {3, 7}});

  auto const plan = plan_exchange(operands, place, DeviceId{1});

  CHECK(list_of(plan.receives) ==
        "0 leaf 3: [1:2, 1:2], 2 leaf 4: [1:2, 4:5], 5 leaf 2: [2:3, 2:4]");
  CHECK(list_of(plan.sends) == "0 leaf 4: [1:2, 2:3], 2 leaf 3: [1:2, 3:4], 5 leaf 1: [1:2, 2:4]");
}

TEST_CASE("a nine-point stencil sends each cell once to each neighbour, also diagonally") {
  auto const grid = make_layout(Mesh({{"x", 2}, {"y", 4}}), P("x", "y"), {4, 8});
  auto const operands = stencil(grid, square());
  auto const place = work_on(grid, {{1, 1}, {3, 7}});

  auto const plan = plan_exchange(operands, place, DeviceId{1});

  CHECK(cells_by_peer(plan.receives) == "0: 2, 2: 2, 4: 1, 5: 2, 6: 1");
  CHECK(cells_by_peer(plan.sends) == "0: 2, 2: 2, 4: 1, 5: 2, 6: 1");
}

TEST_CASE("leaves of one array share what is sent, leaves of two arrays do not") {
  auto const cells = cells_on_devices(10, 2);
  auto const place = work_on(cells, {{0}, {8}});
  auto const near = read_in_place(cells, shifted_by({1}), 0);
  auto const far = read_in_place(cells, shifted_by({2}), 0);
  auto const other = read_in_place(cells, shifted_by({2}), 1);

  CHECK(plan_of({near, far}, place, 0) == "receives 1: [5:6], 1 leaf 1: [6:7]");
  CHECK(plan_of({far, near}, place, 0) == "receives 1: [5:7]");
  CHECK(plan_of({far, far, near}, place, 0) == "receives 1: [5:7]");
  CHECK(plan_of({near, other}, place, 0) == "receives 1: [5:6], 1 leaf 1: [5:7]");
  CHECK(plan_of({far, other}, place, 0) == "receives 1: [5:7], 1 leaf 1: [5:7]");
}

TEST_CASE("a strided leaf does not ask again for what another leaf was given") {
  auto const cells = cells_on_devices(8, 2);
  AffineMap const even{1, {{0, 0, 2}}};
  ComputePlacement const place{cells, even, {{0}, {3}}};
  auto const strided = read_in_place(cells, Access::plain({1, {{0, 2, 2}}}));

  CHECK(plan_of({strided, strided}, place, 0) == "receives 1: [4:5] step 2 along 0");
}

TEST_CASE("a temporary holds its whole need, whatever other leaves were given") {
  auto const cells = cells_on_devices(8, 2);
  auto const place = work_on(cells, {{0}, {7}});
  auto const in_place = read_in_place(cells, shifted_by({1}));
  auto const temporary = read_from_temporary(cells, shifted_by({1}));

  CHECK(plan_of({in_place, temporary}, place, 0) ==
        "receives 1: [4:5], 1 leaf 1: [4:5]; copies 0 leaf 1: [1:4]");
  CHECK(plan_of({temporary, in_place}, place, 0) ==
        "receives 1: [4:5], 1 leaf 1: [4:5]; copies 0: [1:4]");
}

TEST_CASE("what is valid is not sent again") {
  auto const cells = cells_on_devices(8, 2);
  auto const place = work_on(cells, {{0}, {6}});
  HaloValidity validity;
  validity.note_fill(Fill::make({shifted_by({1})}, place));

  CHECK(plan_of({read_in_place(cells, shifted_by({1}), 0, &validity)}, place, 0) == "nothing");
  CHECK(plan_of({read_in_place(cells, shifted_by({1}), 0, &validity)}, place, 1) == "nothing");
  CHECK(plan_of({read_in_place(cells, shifted_by({2}), 0, &validity)}, place, 0) ==
        "receives 1: [5:6]");
  CHECK(plan_of({read_in_place(cells, shifted_by({2}), 0, &validity)}, place, 1) ==
        "sends 0: [5:6]");

  validity.note_write({{4}, {5}});
  CHECK(plan_of({read_in_place(cells, shifted_by({1}), 0, &validity)}, place, 0) ==
        "receives 1: [4:5]");
}

//  blocks of 2 on two devices:  [0 1] 0   [2 3] 1   [4 5] 0   [6 7] 1

TEST_CASE("a device with several boxes is given what each lacks, and peers get one list") {
  auto const cells = cells_on_devices(8, 2, Cut::cyclic(2));
  auto const place = work_on(cells, {{0}, {7}});
  std::vector<OperandUse> const operands{read_from_temporary(cells, shifted_by({1}))};

  CHECK(plan_of(operands, place, 0) ==
        "sends 1: [4:5]; receives 1: [2:3], 1: [6:7]; copies 0: [1:2], 0: [5:6]");
  CHECK(plan_of(operands, place, 1) ==
        "sends 0: [2:3], 0: [6:7]; receives 0: [4:5]; copies 1: [3:4]");
  auto const received = plan_exchange(operands, place, DeviceId{0}).receives;
  CHECK(received[0] == Transfer{DeviceId{1}, 0, {{{2}, {3}}, {{0, 1, 0}}}, 0, 0});
  CHECK(received[1] == Transfer{DeviceId{1}, 0, {{{6}, {7}}, {{0, 1, 0}}}, 0, 1});
}

TEST_CASE("what is dealt out comes together with one list from each peer") {
  auto const dealt = cells_on_devices(12, 3, Cut::cyclic(1));
  auto const together = cells_on_devices(12, 3);
  std::vector<OperandUse> const operands{read_from_temporary(dealt, shifted_by({0}))};

  CHECK(plan_of(operands, work_on(together), 0) ==
        "sends 1: [6:7], 2: [9:10]; receives 1: [1:2], 2: [2:3]; copies 0: [0:1], 0: [3:4]");
  std::vector<OperandUse> const back{read_from_temporary(together, shifted_by({0}))};
  CHECK(plan_of(back, work_on(dealt), 0) ==
        "sends 1: [1:2], 2: [2:3]; receives 1: [6:7], 2: [9:10]");
}

TEST_CASE("arrays cut alike in several boxes are read in place and nothing is sent") {
  auto const stacked = cells_on_devices(12, 2, Cut::segments({4, 8}));
  std::vector<OperandUse> const operands{read_in_place(stacked, shifted_by({0}))};

  CHECK(plan_of(operands, work_on(stacked), 0) == "nothing");
  CHECK(plan_of(operands, work_on(stacked), 1) == "nothing");
}

TEST_CASE("cells print where they lie and where the reader looks for them") {
  Cells const cells{{{0, 2}, {1, 4}}, {{7, 0, 7}, {1, 2, 11}}};

  CHECK(text(cells) == "[7:8, 5:8] step 2 along 1 as [7:8, 15:18]");
  CHECK(cells.wraps());
  CHECK(cells.lattice_in({{0, 6}, {9, 9}}) == Box{{0, 3}, {1, 4}});
  CHECK(cells.lattice_in({{0, 6}, {7, 9}}).empty());
  CHECK(cells.lattice_in(Box::none(2)).empty());
}

TEST_SUITE_END();
