#include "src/liveness/wait_registry.hpp"

#include <cstddef>

#include <doctest/doctest.h>

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("liveness/wait_registry");

namespace {

Awaited message_of(std::int64_t self, std::int64_t peer) {
  return {Awaited::Kind::message, DeviceId(self), DeviceId(peer), 1, {}};
}

/// Process 1 of three, with as many devices as every other.
struct Process {
  explicit Process(std::int64_t devices) : job(fake[1], devices), waits(job) {}

  FakeJob fake{3};
  Job job;
  WaitRegistry waits;
};

}  // namespace

TEST_CASE("what keeps a device is its worker's own wait") {
  Process process(2);
  process.waits.worker(DeviceId(2)).begin(message_of(2, 0));

  auto const blocking = process.waits.blocking(DeviceId(2));

  REQUIRE(blocking);
  CHECK(blocking->node == control::Node{false, 2});
  CHECK(blocking->wait.what.peer == DeviceId(0));
  CHECK_FALSE(process.waits.blocking(DeviceId(3)));
}

TEST_CASE("a worker with nothing to do is kept by its caller's wait") {
  Process process(2);
  process.waits.caller().begin(message_of(2, 0));
  CHECK_FALSE(process.waits.blocking(DeviceId(2)));

  process.waits.set_idle_test([](DeviceId device) { return device == DeviceId(2); });

  auto const blocking = process.waits.blocking(DeviceId(2));
  REQUIRE(blocking);
  CHECK(blocking->node == control::Node{true, 1});
  CHECK_FALSE(process.waits.blocking(DeviceId(3)));
}

TEST_CASE("the only device of a process is driven by its caller, as one thread") {
  Process process(1);
  process.waits.caller().begin(message_of(1, 0));

  auto const blocking = process.waits.blocking(DeviceId(1));

  REQUIRE(blocking);
  CHECK(blocking->node == control::Node{false, 1});
}

TEST_CASE("every wait that is going on is visited") {
  Process process(2);
  process.waits.worker(DeviceId(3)).begin(message_of(3, 0));
  process.waits.caller().begin(message_of(2, 5));
  std::size_t count = 0;

  process.waits.visit_all([&](WaitingNode const&) { ++count; });
  CHECK(count == 2);

  process.waits.worker(DeviceId(3)).end();
  process.waits.visit_all([&](WaitingNode const&) { ++count; });
  CHECK(count == 3);
}

TEST_CASE("waits are found by the process they are for, and by their kind") {
  Process process(2);
  process.waits.worker(DeviceId(2)).begin(message_of(2, 0));
  process.waits.worker(DeviceId(3)).begin({.kind = Awaited::Kind::gpu, .self = DeviceId(3)});

  auto const of_zero = process.waits.of_process(ProcessId(0));
  REQUIRE(of_zero);
  CHECK(of_zero->self == DeviceId(2));
  CHECK_FALSE(process.waits.of_process(ProcessId(2)));
  auto const of_gpu = process.waits.of_kind(Awaited::Kind::gpu);
  REQUIRE(of_gpu);
  CHECK(of_gpu->self == DeviceId(3));
  CHECK_FALSE(process.waits.of_kind(Awaited::Kind::finish));
}

TEST_SUITE_END();
