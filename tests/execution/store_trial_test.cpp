#include "src/execution/store_trial.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace tessera;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("execution/store_trial");

namespace {

/// Runs until the trial is over; `took(is_non_temporal, run)` is the time of a run.
template <class Took>
std::vector<bool> forms_tried(StoreTrial& trial, Took const& took) {
  std::vector<bool> tried;
  while (!trial.is_over()) {
    tried.push_back(trial.is_non_temporal());
    trial.add(took(tried.back(), static_cast<int>(tried.size())));
  }
  return tried;
}

template <int number>
void form(void const*, std::int64_t, std::int64_t) {
  static int calls = number;  // so that no two forms are the same function
  ++calls;
}

}  // namespace

TEST_CASE("after a first run both forms run in turn, and the faster one is kept") {
  for (bool const is_past_faster : {false, true}) {
    StoreTrial trial;
    auto const tried = forms_tried(trial, [&](bool is_non_temporal, int) {
      return is_non_temporal == is_past_faster ? 3ms : 4ms;
    });

    CHECK(tried == std::vector<bool>{false, true, false, true, false, true, false, true, false});
    CHECK(trial.is_non_temporal() == is_past_faster);
    trial.add(1ns);
    CHECK(trial.is_non_temporal() == is_past_faster);
  }
}

TEST_CASE("the first run and those that something else has slowed down do not count") {
  StoreTrial trial;

  (void)forms_tried(trial, [](bool is_non_temporal, int run) {
    if (run == 1) return 1ms;
    if (!is_non_temporal) return 5ms;
    return run == 4 ? 4ms : 100ms;
  });

  CHECK(trial.is_non_temporal());
}

TEST_CASE("forms that are equally fast go through the caches") {
  StoreTrial trial;

  (void)forms_tried(trial, [](bool, int) { return 2ms; });

  CHECK_FALSE(trial.is_non_temporal());
}

TEST_CASE("each kernel of a plan has a trial of its own, while there is room") {
  StoreTrials trials;
  CHECK(trials.find(form<0>) == nullptr);

  auto* const first = trials.of(form<0>);
  auto* const second = trials.of(form<1>);

  CHECK(first != second);
  CHECK(trials.of(form<0>) == first);
  CHECK(trials.find(form<1>) == second);
  for (auto const more : {form<2>, form<3>, form<4>, form<5>, form<6>, form<7>})
    CHECK(trials.of(more) != nullptr);
  CHECK(trials.of(form<8>) == nullptr);
  CHECK(trials.find(form<8>) == nullptr);
  CHECK(trials.of(form<1>) == second);
}

TEST_SUITE_END();
