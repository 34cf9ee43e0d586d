#include "src/statement/lowering/plan_key.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "src/statement/statement.hpp"

#include "plan/cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::shifted_by;
using test::work_on;

/// Two statements share a plan exactly where nothing that the plan depends on differs.
TEST_SUITE_BEGIN("statement/plan_key");

namespace {

using Array = std::shared_ptr<ArrayModel>;

Array doubles(std::uint64_t number, std::int64_t cells = 10) {
  return std::make_shared<ArrayModel>(cells_on_devices(cells, 3), 8, number);
}

std::vector<std::uint64_t> key_of(Array const& target, std::vector<Array> const& reads) {
  Statement statement;
  statement.target = target;
  statement.work = work_on(target->layout(), {{1}, {9}});
  for (auto const& array : reads) statement.operands.push_back({array, shifted_by({1})});
  PlanKey key;
  key.describe(statement);
  return {key.words().begin(), key.words().end()};
}

}  // namespace

TEST_CASE("other arrays that lie alike have the same plan") {
  CHECK(key_of(doubles(1), {doubles(2)}) == key_of(doubles(3), {doubles(4)}));
  CHECK_FALSE(key_of(doubles(1), {doubles(2)}) == key_of(doubles(3), {doubles(4, 11)}));
}

TEST_CASE("it counts which of the arrays are one") {
  auto const u = doubles(1);
  auto const v = doubles(2);
  auto const w = doubles(3);

  CHECK_FALSE(key_of(w, {u, u}) == key_of(w, {u, v}));
  CHECK_FALSE(key_of(u, {u}) == key_of(v, {u}));
}

TEST_CASE("ghost cells count, and which of them are fresh") {
  auto const target = doubles(1);
  auto const u = doubles(2);
  auto const before = key_of(target, {u});

  u->set_widths({{0}, {1}});
  auto const grown = key_of(target, {u});
  u->halo_validity().note_fill(Fill::make({shifted_by({1})}, work_on(u->layout(), {{1}, {9}})));

  CHECK_FALSE(grown == before);
  CHECK_FALSE(key_of(target, {u}) == grown);
}

TEST_CASE("a pinned array has plans of its own, since its memory need not lie as its layout says") {
  auto const target = doubles(1);
  auto const one = doubles(2);
  auto const other = doubles(3);
  one->pin();
  other->pin();

  CHECK_FALSE(key_of(target, {one}) == key_of(target, {other}));
}

// With as many dimensions, boundaries and operands as there can be. TESSERA_ASSERT counts.
TEST_CASE("the longest statement has a key") {
  Index const ones(max_rank, 1);
  auto const layout = test::make_layout(
      Mesh({{"x", 1}}), PartitionSpec(std::vector<SpecEntry>(max_rank, none)), ones);
  auto const array = std::make_shared<ArrayModel>(layout, 8, 1);
  array->set_widths({Index(max_rank, 0), Index(max_rank, 0)});
  Statement statement;
  statement.target = array;
  statement.mode = WriteMode::fold_slabs;
  statement.slab_map = AffineMap::identity(max_rank);
  statement.work = work_on(layout);
  for (std::size_t l = 0; l < detail::max_operands; ++l)
    statement.operands.push_back({std::make_shared<ArrayModel>(layout, 8, l + 2),
                                  shifted_by(ones, ones, BoundaryKind::edge)});
  PlanKey key;
  key.describe(statement);

  // The words of an operand of 8 dimensions, each with a map and a boundary, for every operand.
  CHECK(key.words().size() > detail::max_operands * 8 * (3 + 4));
}

TEST_CASE("statements that run as one count with their steps, and are no statement by itself") {
  auto const u = doubles(1);
  Statement statement;
  statement.target = u;
  statement.work = work_on(u->layout(), {{1}, {9}});
  auto const key_of_list = [&](std::vector<Statement const*> const& list, std::uint64_t steps) {
    PlanKey key;
    key.describe(list, steps);
    return std::vector<std::uint64_t>(key.words().begin(), key.words().end());
  };

  CHECK(key_of_list({&statement}, 1) == key_of_list({&statement}, 1));
  CHECK_FALSE(key_of_list({&statement}, 1) == key_of_list({&statement}, 2));
  CHECK_FALSE(key_of_list({&statement}, 1) == key_of_list({&statement, &statement}, 1));
  CHECK_FALSE(key_of_list({&statement}, 1) == key_of(u, {}));
}

TEST_SUITE_END();
