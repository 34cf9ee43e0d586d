#include <cstdint>
#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include "src/layout/count_visits.hpp"
#include "src/ops/collectives/member_shapes.hpp"
#include "src/statement/array_model.hpp"
#include "src/statement/copy_statement.hpp"
#include "src/statement/lowering/lower_statement.hpp"

#include "support/count_allocations.hpp"
#include "support/planning_cost.hpp"

using namespace tessera;
using detail::Seen;

/// What one device plans for a collective of values, where the job has eight devices in each of
/// many lists. No device needs to be there.
TEST_SUITE_BEGIN("ops/member_scale");

namespace {

// Between which layouts a collective copies, given the shapes of the values.
using Ways = std::pair<Seen, Seen> (*)(Group const&);

test::PlanningCost cost_of(std::int64_t lists, Ways ways) {
  CountVisits const visits;
  test::CountAllocations const allocations;
  auto const group = Mesh({{"list", lists}, {"member", 8}}).group("member");
  auto const [from, to] = ways(group);
  detail::StatePtr const source = std::make_shared<ArrayModel>(from.layout, 8, 1);
  detail::StatePtr const target = std::make_shared<ArrayModel>(to.layout, 8, 2);
  CopyStatement const copy(target, source, {}, "all_gather");
  auto const modes = choose_modes(copy.statement());
  StatementUse const use(copy.statement(), modes);
  auto const plan = lower_device(use, DeviceId{lists / 2 * 8 + 3});
  return {visits.devices(), allocations.bytes(),
          static_cast<std::int64_t>(plan.sends.size() + plan.receives.size())};
}

void check_equal_costs(Ways ways) {
  auto const of_few = cost_of(8, ways);
  auto const of_many = cost_of(131'072, ways);
  CHECK(of_few.transfers == 14);
  CHECK(of_few == of_many);
}

}  // namespace

TEST_CASE("one device plans its own part, of 64 devices as of a million") {
  check_equal_costs([](Group const& group) {
    auto const values = detail::equal_shapes(group, {16, 3});
    auto const result = detail::equal_shapes(group, {16, 24});
    return std::pair(side_by_side(*values, 1), lists_side_by_side(*result, 1));
  });
  check_equal_costs([](Group const& group) {
    auto const values = detail::equal_shapes(group, {16, 3});
    auto const result = detail::equal_shapes(group, {2, 24});
    return std::pair(side_by_side(*values, 1), crosswise(*result, 0, 1));
  });
  check_equal_costs([](Group const& group) {
    auto const values = detail::equal_shapes(group, {16, 3});
    return std::pair(in_pieces(*values, 0), pieces_joined(*values, 0));
  });
}

TEST_SUITE_END();
