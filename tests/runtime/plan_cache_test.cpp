#include "src/runtime/statements/plan_cache.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include <doctest/doctest.h>

#include "src/statement/statement.hpp"

#include "plan/cases.hpp"

using namespace tessera;

/// Which plans are kept.
TEST_SUITE_BEGIN("runtime/plan_cache");

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t devices = 4;

/// A plan cache, and statements that are told apart by their number of cells.
class Plans {
 public:
  CompiledStatement const* insert(std::int64_t cells, std::int64_t bytes) {
    describe(cells);
    auto plan = std::make_shared<CompiledStatement>();
    plan->device_bytes = bytes / devices;
    return cache_.insert(key_, std::move(plan)).get();
  }
  CompiledStatement const* find(std::int64_t cells) {
    describe(cells);
    auto const* const found = cache_.find(key_);
    return found == nullptr ? nullptr : found->get();
  }

 private:
  void describe(std::int64_t cells) {
    Statement statement;
    statement.work = test::work_on(layout_, {{0}, {cells}});
    key_.describe(statement);
  }

  test::SharedLayout layout_ = test::cells_on_devices(100'000, 2);
  PlanKey key_;
  PlanCache cache_{devices};
};

}  // namespace

TEST_CASE("the least recently used plan makes room for one more than there may be") {
  constexpr auto most = static_cast<std::int64_t>(PlanCache::most_entries);
  Plans plans;
  for (std::int64_t k = 0; k < most; ++k) plans.insert(k, 1);
  CHECK(plans.find(0) != nullptr);

  auto const* const last = plans.insert(most, 1);

  CHECK(plans.find(0) != nullptr);
  CHECK(plans.find(1) == nullptr);
  CHECK(plans.find(2) != nullptr);
  CHECK(plans.find(most - 1) != nullptr);
  CHECK(plans.find(most) == last);
}

TEST_CASE("large plans make room for what exceeds the bytes, the least recently used first") {
  Plans plans;
  for (std::int64_t k = 0; k < 4; ++k) plans.insert(k, 16 * mebibyte);
  CHECK(plans.find(0) != nullptr);

  plans.insert(4, 17 * mebibyte);

  CHECK(plans.find(0) != nullptr);
  CHECK(plans.find(1) == nullptr);
  CHECK(plans.find(2) == nullptr);
  CHECK(plans.find(3) != nullptr);
  CHECK(plans.find(4) != nullptr);

  plans.insert(5, 15 * mebibyte);
  CHECK(plans.find(0) != nullptr);
}

TEST_CASE("a plan larger than all room is kept alone, and its bytes go with it") {
  Plans plans;
  plans.insert(0, mebibyte);
  plans.insert(1, 100 * mebibyte);
  CHECK(plans.find(0) == nullptr);
  CHECK(plans.find(1) != nullptr);

  for (std::int64_t k = 2; k < 6; ++k) plans.insert(k, 16 * mebibyte);

  CHECK(plans.find(1) == nullptr);
  for (std::int64_t k = 2; k < 6; ++k) CHECK(plans.find(k) != nullptr);
}

TEST_CASE("plans of operations have their place and their bytes among those of statements") {
  Statement statement;
  statement.work = test::work_on(test::cells_on_devices(10, 2), {{0}, {10}});
  Statement const* const statements[] = {&statement, &statement};
  PlanCache cache(devices);
  PlanKey one, other;
  one.describe(statements, 1);
  other.describe(statements, 2);
  CHECK(cache.find_operation(one) == nullptr);
  auto plan = std::make_unique<CompiledOperation>();
  plan->device_bytes = 40 * mebibyte / devices;

  auto const& kept = cache.insert(one, std::move(plan));

  CHECK(cache.find_operation(one) == &kept);
  CHECK(cache.find_operation(other) == nullptr);

  plan = std::make_unique<CompiledOperation>();
  plan->device_bytes = 40 * mebibyte / devices;
  cache.insert(other, std::move(plan));
  CHECK(cache.find_operation(one) == nullptr);
  CHECK(cache.find_operation(other) != nullptr);
}

TEST_SUITE_END();
