#include "src/runtime/profiler/budget_stack.hpp"

#include <doctest/doctest.h>

#include "src/statement/statement.hpp"

using namespace tessera;
using detail::BudgetEntry;
using detail::BudgetStack;

TEST_SUITE_BEGIN("runtime/budget_stack");

namespace {

// A plan of two devices, of which the first sends `messages` of 8 bytes each.
CompiledStatement plan_of(std::size_t messages) {
  CompiledStatement plan;
  plan.devices.resize(2);
  plan.devices[0].sends.resize(messages);
  for (auto& message : plan.devices[0].sends) message.bytes = 8;
  return plan;
}

// The same with one gather, about which the processes have not agreed.
CompiledStatement plan_with_gather(std::int64_t bytes_sent_here) {
  auto plan = plan_of(1);
  plan.gathers = -1;
  Communication read;
  read.cause = Communication::Cause::gather;
  read.bytes = bytes_sent_here;
  plan.explanation.reads.push_back(read);
  return plan;
}

// What a budget says in a job of one process.
std::optional<detail::Refusal> charge(BudgetStack& stack, CompiledStatement& plan,
                                      Statement const& statement = {}) {
  auto const expense = detail::expense_of(statement, plan);
  return stack.charge(expense, stack.numbers_for(expense));
}

std::vector<std::int64_t> numbers_for(BudgetStack const& stack, CompiledStatement plan) {
  return stack.numbers_for(detail::expense_of(Statement(), plan));
}

BudgetEntry entry_of(CommunicationLimits const& limits) {
  BudgetEntry entry;
  entry.limits = limits;
  return entry;
}

}  // namespace

TEST_CASE("without a budget nothing is watched, and nothing needs to be asked") {
  BudgetStack stack(false, 2);
  CHECK_FALSE(stack.watches());
  CHECK(stack.refuser().empty());
  CHECK(numbers_for(stack, plan_of(3)).empty());
}

TEST_CASE("statements are charged until one would exceed the budget, which is not charged") {
  BudgetStack stack(false, 2);
  auto budget = entry_of({.messages = 3});
  stack.open(budget);
  CHECK(stack.refuser() == "a CommunicationBudget");
  auto small = plan_of(1);
  auto large = plan_of(2);

  CHECK_FALSE(charge(stack, large));
  CHECK(charge(stack, large));
  CHECK(budget.used == CommunicationUse{2, 16, 0});
  CHECK_FALSE(charge(stack, small));
  CHECK(budget.used == CommunicationUse{3, 24, 0});

  stack.close(budget);
  CHECK_FALSE(stack.watches());
}

TEST_CASE("a process without steps of an operation has sent what it had sent before") {
  BudgetStack stack(false, 2);
  auto budget = entry_of({.messages = 3});
  stack.open(budget);
  auto plan = plan_of(2);
  CHECK_FALSE(charge(stack, plan));
  auto const nothing = detail::expense_of(Operation(), CompiledOperation());

  CHECK(stack.numbers_for(nothing) == std::vector<std::int64_t>{2, 16});
  CHECK_FALSE(stack.charge(nothing, {2, 16}));
  CHECK(budget.used == CommunicationUse{2, 16, 0});
}

TEST_CASE("each of nested budgets counts for itself, and any may refuse") {
  BudgetStack stack(false, 2);
  auto outer = entry_of({.bytes = 24});
  auto inner = entry_of({.bytes = 16});
  auto plan = plan_of(2);
  stack.open(outer);
  CHECK_FALSE(charge(stack, plan));
  stack.open(inner);

  CHECK(charge(stack, plan));  // the outer one
  CHECK(inner.used == CommunicationUse{});
  stack.close(inner);
}

TEST_CASE("the device that sent the most counts, and not the sum of all") {
  BudgetStack stack(false, 2);
  auto budget = entry_of({.messages = 1});
  stack.open(budget);
  auto plan = plan_of(1);
  plan.devices[1].sends.resize(1);

  CHECK_FALSE(charge(stack, plan));
  CHECK(budget.used.messages == 1);
}

TEST_CASE("a new plan asks about each gather, a known one does not") {
  BudgetStack stack(false, 2);
  auto plan = plan_with_gather(40);
  CHECK(numbers_for(stack, plan_with_gather(40)) == std::vector<std::int64_t>{1});

  CHECK_FALSE(charge(stack, plan));

  CHECK(plan.gathers == 1);
  CHECK(stack.numbers_for(detail::expense_of(Statement(), plan)).empty());
}

TEST_CASE("a read that sends nothing on any process is no gather") {
  BudgetStack stack(true, 2);
  auto plan = plan_with_gather(0);
  CHECK_FALSE(charge(stack, plan));
  CHECK(plan.gathers == 0);
}

TEST_CASE("strictness refuses a gather that neither a budget nor the statement announces") {
  BudgetStack stack(true, 2);
  CHECK(stack.refuser() == "TESSERA_STRICT");
  auto plan = plan_with_gather(40);
  CHECK(charge(stack, plan));

  Statement transfer;
  transfer.purpose = Purpose::transfer;
  CHECK_FALSE(charge(stack, plan, transfer));

  auto budget = entry_of({.gathers = 1});
  stack.open(budget);
  CHECK_FALSE(charge(stack, plan));
  CHECK(budget.used.gathers == 1);
  CHECK(charge(stack, plan));  // a second one, by the budget
}

TEST_CASE("a refusal says where the budget stands and what would have been sent") {
  BudgetStack stack(false, 2);
  auto budget = entry_of({.messages = 0, .bytes = 64});
  budget.location = SourceLocation("heat.cpp", 12);
  stack.open(budget);
  auto plan = plan_of(1);

  auto const refusal = charge(stack, plan);

  REQUIRE(refusal);
  CHECK(refusal->reason.find("heat.cpp:12") != std::string::npos);
  CHECK(refusal->reason.find("1 message where 0 are allowed") != std::string::npos);
  CHECK(refusal->reason.find("8 B where 64 B are allowed") != std::string::npos);
}

TEST_CASE("fingerprints are equal for equal limits, and only for those") {
  auto const fingerprint = [](CommunicationLimits const& limits) {
    BudgetStack stack(false, 2);
    auto budget = entry_of(limits);
    stack.open(budget);
    return stack.fingerprint();
  };
  CHECK(fingerprint({.messages = 2}) == fingerprint({.messages = 2}));
  CHECK(fingerprint({.messages = 2}) != fingerprint({.messages = 3}));
  CHECK(fingerprint({.messages = 2}) != fingerprint({.bytes = 2}));
  CHECK(fingerprint({.messages = 0}) != fingerprint({}));
}

TEST_SUITE_END();
