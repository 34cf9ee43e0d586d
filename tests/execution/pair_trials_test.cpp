#include "src/execution/pairs/pair_trials.hpp"

#include <doctest/doctest.h>

#include "src/execution/compiled_statement.hpp"

using namespace tessera;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("execution/pair_trials");

namespace {

template <int number>
void form(void const*, std::int64_t, std::int64_t) {
  static int calls = number;  // so that no two forms are the same function
  ++calls;
}

void end(Trial& trial, bool is_second_faster) {
  while (!trial.is_over()) trial.add(trial.takes_second() == is_second_faster ? 3ms : 4ms);
}

}  // namespace

TEST_CASE("a pair is both kernels and the plan of the second one") {
  DevicePlan const plan, other;
  PairTrials trials;

  auto* const trial = trials.of({form<0>, form<1>, &plan});

  CHECK(trials.of({form<0>, form<1>, &plan}) == trial);
  CHECK(trials.of({form<2>, form<1>, &plan}) != trial);
  CHECK(trials.of({form<0>, form<2>, &plan}) != trial);
  CHECK(trials.of({form<0>, form<1>, &other}) != trial);
}

TEST_CASE("there is room for some pairs only") {
  DevicePlan const plan, other;
  PairTrials trials;
  for (auto const* second : {&plan, &other})
    for (auto const first : {form<0>, form<1>, form<2>, form<3>})
      CHECK(trials.of({first, form<4>, second}) != nullptr);

  CHECK(trials.of({form<5>, form<4>, &plan}) == nullptr);
  CHECK(trials.of({form<1>, form<4>, &other}) != nullptr);
}

TEST_CASE("a follower is expected if there was one last time and apart is not faster") {
  DevicePlan const plan;
  PairTrials trials;
  CHECK_FALSE(trials.expects_follower(form<0>));

  auto& trial = *trials.of({form<0>, form<1>, &plan});
  trials.note_follower(form<0>, &trial);
  CHECK(trials.expects_follower(form<0>));
  CHECK_FALSE(trials.expects_follower(form<1>));

  trials.note_follower(form<0>, nullptr);
  CHECK_FALSE(trials.expects_follower(form<0>));

  trials.note_follower(form<0>, &trial);
  end(trial, false);
  CHECK_FALSE(trials.expects_follower(form<0>));
}

TEST_CASE("what a trial has found faster together is known by the first kernel") {
  DevicePlan const plan;
  PairTrials trials;
  auto& trial = *trials.of({form<0>, form<1>, &plan});
  CHECK_FALSE(trials.is_faster_together(form<0>));

  end(trial, true);

  CHECK(trials.is_faster_together(form<0>));
  CHECK_FALSE(trials.is_faster_together(form<1>));
  CHECK(trials.expects_follower(form<0>) == false);  // none has come yet
}

TEST_SUITE_END();
