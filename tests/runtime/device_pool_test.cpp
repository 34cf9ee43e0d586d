#include "src/runtime/device_pool.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "support/runtime_parts.hpp"

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
  plan.devices[1].buffers.resize(500);

  parts.devices.make_room(plan);
  plan.devices[0].scratch_bytes = 10;
  parts.devices.make_room(plan);

  auto const& contexts = parts.devices.contexts();
  CHECK(contexts[0].scratch.size_bytes() >= 100);
  for (auto const& task : contexts[1].tasks) CHECK(task.buffers.capacity() >= 500);
}

TEST_SUITE_END();
