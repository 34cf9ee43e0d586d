#include "src/statement/loop/loop_analysis.hpp"

#include <cstdint>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "src/plan/access.hpp"
#include "src/statement/statement.hpp"

#include "plan/cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::shifted_by;
using test::work_on;

/// Which recorded steps can run in blocks, and how far they reach.
TEST_SUITE_BEGIN("statement/analysis");

namespace {

/// Steps over two arrays u and v of 12 cells.
struct Steps {
  explicit Steps(std::int64_t devices = 3) {
    auto const layout = cells_on_devices(12, devices);
    for (std::uint64_t number = 1; number <= 2; ++number)
      bindings.arrays.push_back(std::make_shared<ArrayModel>(layout, 8, number));
    bindings.next_array = {0, 1};
    for (std::uint64_t number = 1; number <= 2; ++number)
      bindings.scalars.push_back(std::make_shared<ScalarModel>(number));
    bindings.next_scalar = {0, 1};
  }

  /// v(i) = the access of u, for i in [lo, hi).
  Statement& write(Access const& access, std::int64_t lo, std::int64_t hi) {
    auto& statement = step.emplace_back().statement;
    statement.kind = "assignment";
    statement.work = work_on(bindings.arrays[1]->layout(), {{lo}, {hi}});
    statement.target = bindings.arrays[1];
    statement.operands.push_back({bindings.arrays[0], access});
    return statement;
  }

  /// A scalar with this number becomes the sum of u(i), for i in [lo, hi).
  Statement& add_up(std::size_t scalar, std::int64_t lo, std::int64_t hi) {
    auto& statement = step.emplace_back().statement;
    statement.kind = "sum";
    statement.work = work_on(bindings.arrays[0]->layout(), {{lo}, {hi}});
    statement.operands.push_back({bindings.arrays[0], shifted_by({0})});
    statement.result = bindings.scalars[scalar];
    return statement;
  }

  [[nodiscard]] std::string fallback_reason() const {
    return analyze(step, bindings).fallback_reason;
  }

  std::vector<RecordedStatement> step;
  ArrayBindings bindings;
};

}  // namespace

TEST_CASE("a stencil reaches as far as its slices lie from the cell written") {
  Steps steps;
  steps.write(shifted_by({-2}), 2, 12);

  auto const analysis = analyze(steps.step, steps.bindings);

  REQUIRE(analysis.fallback_reason.empty());
  REQUIRE(analysis.body.statements.size() == 1);
  auto const& statement = analysis.body.statements[0];
  CHECK(statement.array == 1);
  CHECK(statement.written == Box{{2}, {12}});
  CHECK_FALSE(statement.swaps);
  REQUIRE(statement.reads.size() == 1);
  CHECK(statement.reads[0].lowest == Index{-2});
  CHECK(statement.reads[0].highest == Index{-2});
}

TEST_CASE("a periodic neighbour lies at a fixed distance") {
  Steps steps;
  steps.write(shifted_by({1}, {12}, BoundaryKind::periodic), 0, 12);

  auto const analysis = analyze(steps.step, steps.bindings);

  REQUIRE(analysis.fallback_reason.empty());
  CHECK(analysis.body.statements[0].reads[0].wraps[0]);
  CHECK(analysis.body.statements[0].reads[0].highest == Index{1});
}

TEST_CASE("what no block can hold is named") {
  Steps reversed;
  reversed.write(Access::plain({1, {{0, 11, -1}}}), 0, 12);
  CHECK(reversed.fallback_reason().find("no neighbour at a fixed distance") != std::string::npos);

  Steps folded;
  folded.write(shifted_by({0}), 0, 12).mode = WriteMode::fold;
  CHECK(folded.fallback_reason().find("combines values of several cells") != std::string::npos);

  Steps pinned;
  pinned.write(shifted_by({0}), 0, 12);
  pinned.bindings.arrays[0]->pin();
  CHECK(pinned.fallback_reason() == "the memory of an array is pinned");

  CHECK(Steps().fallback_reason() == "no statement writes an array");
}

TEST_CASE("a part of a step ends before a statement that reads a value combined in it") {
  Steps steps;
  steps.write(shifted_by({1}), 0, 11)
      .scalars.push_back(steps.bindings.scalars[0]);  // of the last step
  steps.add_up(0, 0, 12);
  steps.add_up(1, 3, 3);  // of no cells
  steps.write(shifted_by({0}), 0, 12).scalars.push_back(steps.bindings.scalars[1]);
  steps.write(shifted_by({0}), 0, 12).scalars.push_back(steps.bindings.scalars[0]);
  steps.add_up(0, 1, 2);

  auto const analysis = analyze(steps.step, steps.bindings);

  REQUIRE(analysis.fallback_reason.empty());
  CHECK(analysis.reduces);
  CHECK(analysis.scalars_change);
  CHECK(analysis.part_of == std::vector<std::size_t>{0, 0, 0, 1, 1, 1});
  REQUIRE(analysis.body.statements.size() == 5);  // without the one of no cells
  CHECK(analysis.body.statements[1].reduces);
  CHECK(analysis.body.statements[1].array == 0);
  CHECK(analysis.body.statements[1].part == 0);
  CHECK(analysis.body.statements[4].written == Box{{1}, {2}});
  CHECK(analysis.body.statements[4].part == 1);
  CHECK(analysis.body.written() == std::vector{false, true});
}

TEST_CASE("totals that no statement reads are kept for as many steps as they have scalars") {
  Steps steps;
  steps.write(shifted_by({1}), 0, 11);
  steps.add_up(0, 0, 12);
  steps.bindings.next_scalar = {1, 2, 0};
  steps.bindings.scalars.push_back(std::make_shared<ScalarModel>(3));

  auto const analysis = analyze(steps.step, steps.bindings);

  REQUIRE(analysis.fallback_reason.empty());
  CHECK_FALSE(analysis.scalars_change);
  CHECK(analysis.body.kept_totals == 3);
  auto const schedule = schedule_block(analysis.body, 5, 1);
  CHECK(schedule.instances.size() == 5 + 3);
}

TEST_CASE("an array that every device has and nothing writes may be read anywhere") {
  Steps steps;
  auto const mesh = steps.bindings.arrays[0]->layout()->mesh();
  auto const whole =
      std::make_shared<Layout const>(NamedSharding(mesh, P(none, none)), Shape{5, 12});
  auto& statement = steps.write(shifted_by({1}), 0, 11);
  steps.bindings.arrays.push_back(std::make_shared<ArrayModel>(whole, 8, 3));
  steps.bindings.next_array.push_back(2);
  auto const backwards = Access::plain({1, {{AxisMap::fixed, 3, 1}, {0, 11, -1}}});
  statement.operands.push_back({steps.bindings.arrays[2], backwards});

  auto const analysis = analyze(steps.step, steps.bindings);

  REQUIRE(analysis.fallback_reason.empty());
  REQUIRE(analysis.body.statements[0].reads.size() == 2);
  CHECK_FALSE(analysis.body.statements[0].reads[0].is_table);
  CHECK(analysis.body.statements[0].reads[1].is_table);
  CHECK_FALSE(analysis.body.arrays[0].is_table);
  CHECK(analysis.body.arrays[2].is_table);
  CHECK(analysis.body.rank() == 1);
  steps.bindings.arrays[2]->pin();
  CHECK(steps.fallback_reason().empty());
  // It may lie otherwise in memory than the one whose place it takes.
  steps.bindings.arrays.push_back(std::make_shared<ArrayModel>(whole, 8, 4));
  steps.bindings.next_array = {0, 1, 3, 2};
  CHECK(steps.fallback_reason() == "the memory of an array is pinned");
  steps.bindings.next_array = {0, 1, 2, 3};
  CHECK(schedule_block(analysis.body, 2, 1).widths[0] == GhostWidths{{0}, {1}});

  auto& boundary = steps.step[0].statement.operands[1].access.boundaries[1];
  boundary.below = boundary.above = BoundaryKind::periodic;
  CHECK_FALSE(steps.fallback_reason().empty());
  boundary = {};

  steps.write(shifted_by({0}), 0, 12).target = steps.bindings.arrays[2];
  CHECK(steps.fallback_reason().find("no neighbour at a fixed distance") != std::string::npos);
}

TEST_CASE("sums that cannot be part of a block are named") {
  Steps fast;
  fast.write(shifted_by({0}), 0, 12);
  fast.add_up(0, 0, 12).reduction.depends_on_order = true;
  CHECK(fast.fallback_reason() == "the sum of a whole array depends on the order of the cells");

  Steps elsewhere;
  elsewhere.write(shifted_by({0}), 0, 12);
  elsewhere.add_up(0, 0, 9).work = work_on(cells_on_devices(9, 2), {{0}, {9}});
  CHECK(elsewhere.fallback_reason() ==
        "the sum of a whole array is computed elsewhere than the arrays that are written");

  Steps repeated;
  repeated.write(shifted_by({0}), 0, 12);
  auto& outer = repeated.add_up(0, 0, 12);
  outer.work.indices = {{0, 0}, {12, 3}};
  outer.work.map.rank_in = 2;
  CHECK(repeated.fallback_reason() ==
        "the sum of a whole array repeats the cells of the array where it is computed");

  Steps backwards;
  backwards.write(shifted_by({0}), 0, 12);
  backwards.add_up(0, 0, 12).work.map.axes[0] = {0, 11, -1};
  CHECK(backwards.fallback_reason() == "the sum of a whole array reads cells backwards");
}

TEST_CASE("a statement that reads what it overwrites swaps, unless it writes a small part") {
  Steps whole;
  whole.write(shifted_by({1}), 0, 11).operands[0].array = whole.bindings.arrays[1];
  CHECK(analyze(whole.step, whole.bindings).body.statements[0].swaps);

  Steps part;
  part.write(shifted_by({1}), 0, 5).operands[0].array = part.bindings.arrays[1];
  CHECK(part.fallback_reason().find("in less than half of its array") != std::string::npos);
}

TEST_SUITE_END();
