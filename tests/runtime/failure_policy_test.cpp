#include "src/runtime/devices/failure_policy.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>

#include "support/runtime_parts.hpp"

using namespace tessera;
using test::RuntimeParts;

TEST_SUITE_BEGIN("runtime/failure_policy");

TEST_CASE("the first failure is thrown, and again by everything that follows") {
  RuntimeParts parts(1);
  CHECK_THROWS_WITH_AS(parts.failures.guarded([] { throw std::logic_error("first"); }), "first",
                       std::logic_error);

  bool ran = false;
  CHECK_THROWS_WITH_AS(parts.failures.guarded([&] { ran = true; }), "first", std::logic_error);
  CHECK_FALSE(ran);
}

TEST_CASE("in a job of one process a function of the program may throw and the job goes on") {
  RuntimeParts parts(1);
  parts.failures.give_up_in_job(std::make_exception_ptr(std::logic_error("a functor")));

  bool ran = false;
  parts.failures.guarded([&] { ran = true; });
  CHECK(ran);
}

TEST_CASE("a failure returns to the caller when no worker uses what is the caller's") {
  RuntimeParts parts(3);
  std::atomic<bool> may_end = false;
  std::atomic<int> ended = 0;
  std::function<void(DeviceTask&)> const call = [&](DeviceTask& task) {
    if (task.device == DeviceId{0}) {
      may_end = true;
      throw std::logic_error("device 0");
    }
    while (!may_end) std::this_thread::yield();
    ++ended;
  };

  CHECK_THROWS_WITH_AS(parts.failures.guarded([&] {
    parts.dispatcher.post_to_all(call, {});
    parts.devices.synchronize();
  }),
                       "device 0", std::logic_error);
  CHECK(parts.devices.are_idle());
  CHECK(ended == 2);
  CHECK(parts.failures.quiesce_workers());
}

TEST_SUITE_END();
