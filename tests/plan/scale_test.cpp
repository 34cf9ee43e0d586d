#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/box.hpp"
#include "src/layout/count_visits.hpp"
#include "src/plan/access.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/ghost.hpp"

#include "support/count_allocations.hpp"
#include "support/planning_cost.hpp"

#include "cases.hpp"

using namespace tessera;
using test::make_layout;

TEST_SUITE_BEGIN("plan/scale");

namespace {

constexpr std::int64_t cells_per_device = 32;

// The offsets with at most `moved` dimensions other than 0: the cross for 1, the full cube for all.
std::vector<Index> stencil(std::size_t rank, std::int64_t moved) {
  std::vector<Index> offsets;
  Index offset(rank, -1);
  for (;;) {
    std::int64_t nonzero = 0;
    for (auto const o : offset) nonzero += o == 0 ? 0 : 1;
    if (nonzero <= moved) offsets.push_back(offset);
    std::size_t d = 0;
    for (; d < rank && ++offset[d] > 1; ++d) offset[d] = -1;
    if (d == rank) return offsets;
  }
}

struct Problem {
  std::vector<MeshAxis> axes;
  std::vector<Index> offsets;
  bool is_periodic = false;
};

test::PlanningCost cost_of(Problem const& problem) {
  auto const rank = problem.axes.size();
  auto const kind = problem.is_periodic ? BoundaryKind::periodic : BoundaryKind::absent;
  CountVisits const visits;
  test::CountAllocations const allocations;

  Mesh const mesh(problem.axes);
  Shape shape;
  Index middle;
  std::vector<SpecEntry> entries;
  for (auto const& axis : problem.axes) {
    shape.push_back(axis.size * cells_per_device);
    middle.push_back(axis.size / 2);
    entries.emplace_back(axis.name);
  }
  auto const layout = make_layout(mesh, PartitionSpec(entries), shape);
  auto const place = test::work_on(
      layout,
      problem.is_periodic ? whole(shape) : grown(whole(shape), Index(rank, -1), Index(rank, -1)));
  std::vector<OperandUse> operands;
  for (auto const& offset : problem.offsets) {
    operands.push_back(test::read_in_place(layout, test::shifted_by(offset, shape, kind)));
    REQUIRE(ghost_widths_for(*layout, operands.back().access, place));
  }
  auto const plan = plan_exchange(operands, place, mesh.device_at(mesh.position(middle)));

  return {visits.devices(), allocations.bytes(),
          static_cast<std::int64_t>(plan.sends.size() + plan.receives.size())};
}

void check_equal_costs(Problem const& few, Problem const& many) {
  auto const of_few = cost_of(few);
  auto const of_many = cost_of(many);
  MESSAGE(text(few.offsets.size(), " points: ", of_few, "; of a million: ", of_many));
  CHECK(of_few.transfers > 0);
  CHECK(of_few == of_many);
}

}  // namespace

TEST_CASE("the plan of a row costs the same for 64 devices and for a million") {
  check_equal_costs({{{"x", 64}}, stencil(1, 1)}, {{{"x", 1'048'576}}, stencil(1, 1)});
}

TEST_CASE("the plan of a cube costs the same for 64 devices and for a million") {
  for (std::int64_t const moved : {1, 3})
    check_equal_costs({{{"x", 4}, {"y", 4}, {"z", 4}}, stencil(3, moved)},
                      {{{"x", 128}, {"y", 128}, {"z", 64}}, stencil(3, moved)});
}

// Of 6 devices in a row, the one in the middle has neighbours whose own reads do not wrap.
TEST_CASE("a periodic plan costs the same for a few devices and for a million") {
  check_equal_costs({{{"x", 64}}, stencil(1, 1), true}, {{{"x", 1'048'576}}, stencil(1, 1), true});
  for (std::int64_t const moved : {1, 3})
    check_equal_costs({{{"x", 6}, {"y", 6}, {"z", 6}}, stencil(3, moved), true},
                      {{{"x", 128}, {"y", 128}, {"z", 64}}, stencil(3, moved), true});
}

TEST_CASE("a device at the edge visits its partners only") {
  auto const visits_of_last = [](std::int64_t devices) {
    auto const layout = test::cells_on_devices(32 * devices, devices);
    std::vector<OperandUse> const operands{test::read_in_place(layout, test::shifted_by({1}))};
    CountVisits const visits;
    auto const plan = plan_exchange(operands, test::work_on(layout, {{0}, {32 * devices - 1}}),
                                    DeviceId{devices - 1});
    CHECK(plan.sends.size() == 1);
    CHECK(plan.receives.empty());
    return visits.devices();
  };

  CHECK(visits_of_last(1'000'000) == visits_of_last(3));
}

TEST_CASE("cutting or copying an array that every device holds visits nobody") {
  Mesh const mesh({{"x", 16'000}});
  Shape const shape{64'000};
  auto const held = std::make_shared<Layout const>(NamedSharding(mesh, P(none)), shape);
  for (auto const& spec : {P("x"), P(none)}) {
    auto const target = std::make_shared<Layout const>(NamedSharding(mesh, spec), shape);
    ComputePlacement const place{target, AffineMap::identity(1), whole(shape)};
    std::vector<OperandUse> const operands{
        {held, Access::plain(AffineMap::identity(1)), 0, false, nullptr}};
    CountVisits const visits;

    auto const plan = plan_exchange(operands, place, DeviceId{777});

    CHECK(plan.sends.empty());
    CHECK(plan.receives.empty());
    CHECK(visits.devices() <= 4);
  }
}

TEST_SUITE_END();
