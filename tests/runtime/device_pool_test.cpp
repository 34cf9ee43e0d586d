#include "src/runtime/devices/device_pool.hpp"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "src/device/device_limit.hpp"

#include "support/float_states.hpp"
#include "support/left_out.hpp"
#include "support/peak_memory.hpp"
#include "support/runtime_parts.hpp"
#include "support/sanitized.hpp"

using namespace tessera;
using test::RuntimeParts;

TEST_SUITE_BEGIN("runtime/device_pool");

TEST_CASE("what a device was given runs in order, and all of it before synchronize returns") {
  RuntimeParts parts(2);
  std::array<std::vector<int>, 2> order;
  std::vector<std::function<void(DeviceTask&)>> calls;
  for (int k = 0; k < 200; ++k)  // more than a ring holds
    calls.emplace_back(
        [&, k](DeviceTask& task) { order[parts.devices.index_of(task.device)].push_back(k); });

  for (auto const& call : calls) parts.dispatcher.post_to_all(call, {});
  parts.devices.synchronize();

  for (auto const& numbers : order) {
    REQUIRE(numbers.size() == 200);
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
  }
}

TEST_CASE("room for a plan grows to what the largest one needs") {
  RuntimeParts parts(2);
  CompiledStatement plan;
  plan.devices.resize(2);
  plan.devices[0].scratch_bytes = 100;
  for (std::size_t box = 0; box < 500; ++box) plan.devices[1].buffers.push_back({0, box});

  parts.devices.make_room(plan);
  plan.devices[0].scratch_bytes = 10;
  parts.devices.make_room(plan);

  auto const& contexts = parts.devices.contexts();
  CHECK(contexts[0].scratch.size_bytes() >= 100);
  for (auto const& task : contexts[1].tasks) CHECK(task.buffers.capacity() >= 500);
}

TEST_CASE("devices need no more memory than the limit of their number assumes") {
  if (test::left_out_if(test::is_sanitized, "sanitizers need memory of their own")) return;
  constexpr std::int64_t devices = 100;

  auto const bytes = test::peak_growth([] { RuntimeParts parts(devices); });

  if (test::left_out_if(!bytes, "the system does not say how much memory a process has")) return;
  CHECK(*bytes < devices * DeviceNeeds::memory_bytes);
}

TEST_CASE("devices compute in the default floating-point state, and the caller keeps its own") {
  for (std::int64_t const devices : {1, 3})
    for (auto const& state : test::other_states()) {
      CAPTURE(devices);
      CAPTURE(state.name);
      test::InState const own(state);
      RuntimeParts parts(devices);
      std::vector<test::SetState> seen(static_cast<std::size_t>(devices), state);
      std::function<void(DeviceTask&)> const call = [&](DeviceTask& task) {
        seen[parts.devices.index_of(task.device)] = test::state_now();
        (void)std::fesetround(FE_DOWNWARD);  // which no later task sees
      };
      parts.dispatcher.post_to_all(call, {});
      parts.dispatcher.post_to_all(call, {});
      parts.devices.synchronize();

      bool const is_kept = test::state_now() == state;
      bool const is_usual =
          std::ranges::all_of(seen, [](auto const& one) { return one == test::SetState(); });
      CHECK(is_kept);
      CHECK(is_usual);
    }
}

TEST_CASE("the caller keeps its floating-point state where a device's work throws") {
  RuntimeParts parts(1);
  std::function<void(DeviceTask&)> const call = [](DeviceTask&) {
    throw std::runtime_error("a functor gives up");
  };
  for (auto const& state : test::other_states()) {
    CAPTURE(state.name);
    test::InState const own(state);
    CHECK_THROWS_AS(parts.dispatcher.post_to_all(call, {}), std::runtime_error);
    bool const is_kept = test::state_now() == state;
    CHECK(is_kept);
  }
}

TEST_SUITE_END();
