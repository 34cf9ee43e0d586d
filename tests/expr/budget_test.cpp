#include "tessera/runtime/budget.hpp"

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;
using test::sent_by;

/// What budgets let pass, and what they say about the rest.
TEST_SUITE_BEGIN("expr/budget");

namespace {

Range const inner = range(1, -1), left = range(0, -2), right = from(2);

// What `body` throws as BudgetExceeded; "nothing" where it throws nothing.
template <class Body>
std::string refusal_of(Body const& body) {
  try {
    body();
  } catch (BudgetExceeded const& error) {
    return error.what();
  }
  return "nothing";
}

bool contains(std::string const& text, char const* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("statements within their budget pass and are charged by the busiest device") {
  auto u = iota<double>({82}, over(8));
  CommunicationBudget const budget({.messages = 6, .bytes = 48, .gathers = 0});

  CHECK_ALL(budget.used() == CommunicationUse{});
  for (int s = 0; s < 3; ++s) u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);

  // A device in the middle sends a cell to each side in each step.
  CHECK_ALL(budget.used() == CommunicationUse{6, 48, 0});
}

TEST_CASE("the statement that would exceed a budget sends nothing and changes nothing") {
  auto u = iota<double>({82}, over(8));
  auto const step = [&] { u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right); };
  step();
  auto const before = u.to_host();

  auto const sent = sent_by([&] {
    CommunicationBudget const messages({.messages = 1});
    CHECK_ALL_THROW(step(), BudgetExceeded);
    CommunicationBudget const bytes({.bytes = 15});
    CHECK_ALL_THROW(step(), BudgetExceeded);
    CHECK_ALL(messages.used() == CommunicationUse{} && bytes.used() == CommunicationUse{});
  });

  CHECK(sent.messages == 0);
  CHECK(sent.statements == 0);
  CHECK_ALL(holds(u, before));
  CHECK(sent_by(step).messages == 14);  // without a budget the program goes on
}

TEST_CASE("a refusal names the budget, the statement, its causes and a way out") {
  auto u = iota<double>({82}, over(8));
  CommunicationBudget const budget({.messages = 1, .bytes = 8});

  auto const why = refusal_of([&] { u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right); });

  CAPTURE(why);
  CHECK_ALL(contains(why, "budget of budget_test.cpp:"));
  CHECK_ALL(contains(why, "2 messages where 1 is allowed, 16 B where 8 B are allowed"));
  CHECK_ALL(contains(why, "Nothing of it was sent"));
  CHECK_ALL(contains(why, "assignment, written to the second buffer or a temporary"));
  CHECK_ALL(contains(why, "halo"));
  CHECK_ALL(contains(why, "Raise the budget"));
}

TEST_CASE("a budget without gathers lets ghost cells pass and stops a gather") {
  auto u = iota<double>({80}, over(8));
  auto v = zeros<double>({80}, over(8));
  auto const other = iota<double>({80}, over(3));
  CommunicationBudget const budget({.gathers = 0});

  v(inner) = u(left) + u(right);
  auto const why = refusal_of([&] { v = 1 * other; });
  CHECK_ALL(contains(why, "1 gather where 0 are allowed") && contains(why, "gather"));
  CHECK_ALL(contains(refusal_of([&] { v = 1 * other; }), "1 gather"));  // the plan is known now

  v = reshard(other, over(8));  // asked for
  CHECK_ALL(budget.used().gathers == 0);
  CHECK_ALL(holds(v, iota<double>({80}, over(1)).to_host()));
}

TEST_CASE("gathers that are allowed are counted, also those of known plans") {
  auto v = zeros<double>({80}, over(8));
  auto const other = iota<double>({80}, over(3));
  auto const third = iota<double>({80}, over(2));
  auto const read = [&] { v = other + third; };
  read();
  CommunicationBudget const budget({.gathers = 4});

  read();
  CHECK_ALL(budget.used().gathers == 2);
  read();
  CHECK_ALL(budget.used().gathers == 4);
  CHECK_ALL_THROW(read(), BudgetExceeded);
  CHECK_ALL(budget.used().gathers == 4);
}

TEST_CASE("a temporary that holds only cells of its own device is no gather") {
  auto v = zeros<double>({33}, over(8));
  auto const everywhere = iota<double>({5, 33}, {Mesh({{"x", 8}}), P(none, "x")});
  auto const whole = iota<double>({33}, {Mesh({{"x", 8}}), P(none)});
  CommunicationBudget const budget({.messages = 0, .gathers = 0});

  v = everywhere(2, tessera::all) + whole;

  CHECK_ALL(budget.used() == CommunicationUse{});
}

TEST_CASE("each of nested budgets counts for itself") {
  auto u = iota<double>({80}, over(8));
  auto const step = [&] { u(inner) = 0.3 * u(left) + 0.7 * u(right); };
  CommunicationBudget const outer({.messages = 5});
  step();
  {
    CommunicationBudget const narrow({.messages = 2});
    step();
    CHECK_ALL(narrow.used().messages == 2);
    CHECK_ALL_THROW(step(), BudgetExceeded);
  }
  CHECK_ALL(outer.used().messages == 4);
  CommunicationBudget const wide({.messages = 100});
  CHECK_ALL(contains(refusal_of(step), "6 messages where 5 are allowed"));
  CHECK_ALL(outer.used().messages == 4 && wide.used().messages == 0);
}

TEST_CASE("few devices and empty shards keep to a budget, reductions and reads cost nothing") {
  auto u = iota<double>({3}, over(8));
  auto v = zeros<double>({3}, over(8));
  CommunicationBudget const budget({.messages = 1, .bytes = 8, .gathers = 0});

  v(range(0, 2)) = 1 * u(range(1, 3));

  CHECK_ALL(budget.used() == CommunicationUse{1, 8, 0});
  CHECK_ALL(holds(v, std::vector<double>{1, 2, 0}));
  CHECK_ALL(static_cast<double>(v(1)) == 2.0);
}

TEST_CASE("a negative limit is refused") {
  CHECK_ALL_THROW(CommunicationBudget({.messages = -1}), UsageError);
  CHECK_ALL_THROW(CommunicationBudget({.bytes = -1}), UsageError);
  CHECK_ALL_THROW(CommunicationBudget({.gathers = -1}), UsageError);
}

TEST_SUITE_END();
