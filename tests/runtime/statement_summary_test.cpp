#include "src/runtime/statements/statement_summary.hpp"

#include <doctest/doctest.h>

#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/statement/statement.hpp"

#include "support/one_process.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("runtime/summary");

TEST_CASE("a summary tells what a statement does when its arrays are gone") {
  test::OneProcess const job(2);
  NamedSharding const sharding{Mesh({{"x", 2}}), P("x")};
  auto target = job.array(sharding, {10}, 1);
  auto source = job.array(sharding, {12}, 2);
  std::optional<Summary> summary;
  {
    Statement statement;
    statement.kind = "assignment";
    statement.work = {target->layout(), AffineMap::identity(1), Box{{1}, {9}}};
    statement.target = target;
    for (std::int64_t offset : {0, 1}) {
      AffineMap moved{1, {}};
      moved.axes.push_back({0, offset, 1});
      statement.operands.push_back({source, Access::plain(moved), -1});
    }
    summary.emplace(statement);
  }
  target.reset();
  source.reset();

  auto const words = summary->describe();

  CHECK(
      words.starts_with("assignment of 8 cells (8,) to array 1 (10,), reads 2 slices of array 2 "
                        "(12,); on "));
}

TEST_CASE("a reduction has no target") {
  test::OneProcess const job(1);
  auto const array = job.array({Mesh({{"x", 1}}), P("x")}, {4});
  Statement statement;
  statement.kind = "sum";
  statement.work = {array->layout(), AffineMap::identity(1), Box{{0}, {4}}};
  statement.operands.push_back({array, Access::plain(AffineMap::identity(1)), -1});

  CHECK(Summary(statement).describe().starts_with("sum of 4 cells (4,), reads 1 slice of array 1"));
}

TEST_SUITE_END();
