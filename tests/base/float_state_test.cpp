#include "src/base/float_state.hpp"

#include <cfenv>
#include <stdexcept>

#include <doctest/doctest.h>

#include "support/float_states.hpp"

using namespace tessera;
using test::InState;
using test::SetState;
using test::state_now;

TEST_SUITE_BEGIN("base/float_state");

TEST_CASE("a scope in the default state ends in the state before") {
  SetState const usual;
  CHECK(state_now() == usual);
  for (auto const& state : test::other_states()) {
    CAPTURE(state.name);
    SetState inside;
    SetState after;
    {
      InState const own(state);
      {
        DefaultFloatState const computing;
        inside = state_now();
      }
      after = state_now();
    }
    CHECK(inside == usual);
    CHECK(after == state);
    CHECK(state_now() == usual);
  }
}

TEST_CASE("the state before comes back if the scope ends in an exception or has set another") {
  for (auto const& state : test::other_states()) {
    CAPTURE(state.name);
    SetState after;
    SetState after_another;
    {
      InState const own(state);
      try {
        DefaultFloatState const computing;
        throw std::runtime_error("a kernel gives up");
      } catch (std::runtime_error const&) {
        after = state_now();
      }
      {
        DefaultFloatState const computing;
        (void)std::fesetround(FE_TOWARDZERO);
      }
      after_another = state_now();
    }
    CHECK(after == state);
    CHECK(after_another == state);
  }
}

TEST_CASE("long doubles are rounded to nearest, too") {
  long double const volatile one = 1.0L;
  long double const volatile three = 3.0L;
  long double const volatile nearest = one / three;
  InState const own({"upward", FE_UPWARD, 0});
  long double const volatile upward = one / three;
  long double volatile inside = 0;
  {
    DefaultFloatState const computing;
    inside = one / three;
  }
  long double const volatile after = one / three;
  CHECK(inside == nearest);
  CHECK(after == upward);
}

TEST_CASE_TEMPLATE("flags that computing raises stay raised, and traps are the program's", State,
                   FloatState, RoundingState) {
  std::fenv_t usual;
  (void)std::feholdexcept(&usual);
  (void)std::feraiseexcept(FE_INVALID);
  auto const traps = ::feenableexcept(FE_DIVBYZERO);
  auto const before = State::set_default();
  auto const inside = ::fegetexcept();
  (void)std::feraiseexcept(FE_INEXACT);
  before.set();
  auto const after = ::fegetexcept();
  auto const flags = std::fetestexcept(FE_ALL_EXCEPT);
  (void)std::fesetenv(&usual);

  CHECK(traps == 0);
  CHECK(inside == FE_DIVBYZERO);
  CHECK(after == FE_DIVBYZERO);
  CHECK(flags == (FE_INVALID | FE_INEXACT));
}

TEST_CASE_TEMPLATE("the rounding mode is set and set again", State, FloatState, RoundingState) {
  InState const own({"upward", FE_UPWARD, 0});
  auto const before = State::set_default();
  auto const inside = std::fegetround();
  before.set();

  CHECK(inside == FE_TONEAREST);
  CHECK(std::fegetround() == FE_UPWARD);
}

TEST_SUITE_END();
