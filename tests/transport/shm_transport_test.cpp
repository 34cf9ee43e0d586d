#include <doctest/doctest.h>

#include "src/job/ipc/descriptor_server.hpp"
#include "src/job/ipc/progress_thread.hpp"
#include "src/transport/shm/backend.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/shm");

namespace {

OfferRequest const request{DeviceId(0), DeviceId(1), ProcessId(1), 128};

}  // namespace

TEST_CASE("both ends of a channel by shared memory see the same counters") {
  ProgressThread thread;
  DescriptorServer const descriptor_server(thread, {});
  auto const transport = make_shm_transport(descriptor_server);

  auto const made = transport->offer(request);
  auto const accepted = transport->accept(request, made.invitation);

  REQUIRE(accepted.reason.empty());
  CHECK(accepted.end.memory != made.end.memory);  // mapped twice
  accepted.end.memory->filled = 5;
  CHECK(made.end.memory->filled == 5);
}

TEST_CASE("an invitation that makes no sense is refused") {
  ProgressThread thread;
  DescriptorServer const descriptor_server(thread, {});
  auto const transport = make_shm_transport(descriptor_server);

  CHECK(transport->accept(request, {}).reason == "the invitation is invalid");
}

TEST_CASE("once the sender has answered, nobody else can map the memory") {
  ProgressThread thread;
  DescriptorServer const descriptor_server(thread, {.by_proc = true, .by_socket = false});
  auto const transport = make_shm_transport(descriptor_server);
  auto const made = transport->offer(request);

  made.answered();

  CHECK_FALSE(transport->accept(request, made.invitation).reason.empty());
}

TEST_SUITE_END();
