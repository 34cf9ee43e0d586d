#include "src/transport/rpc/call_service.hpp"

#include <doctest/doctest.h>

#include "support/fake_job.hpp"
#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/rpc/call_service");

namespace {

void answer_nothing(std::span<std::byte const> /*request*/, std::vector<std::byte>& /*answer*/) {}

}  // namespace

TEST_CASE("no thread answers where MPI is asked for") {
  FakeJob job(2);
  ControlChannel control_channel(job[0]);
  Refused refused;
  CallService service(job[0], control_channel, own_secret(), refused);

  CHECK(service.prepare(Route::mpi, answer_nothing) == "TESSERA_ROUTE=mpi is set");
  CHECK(service.calls() == nullptr);
}

TEST_CASE("no thread answers where MPI allows none") {
  FakeJob job(2);
  job[0].forbid_threads();
  ControlChannel control_channel(job[0]);
  Refused refused;
  CallService service(job[0], control_channel, own_secret(), refused);

  CHECK(service.prepare(std::nullopt, answer_nothing) == "MPI was initialised for a single thread");
}

TEST_CASE("where callers answer, calls need the other caller") {
  FakeJob job(2);
  ControlChannel control_channel(job[0]);
  Refused refused;
  CallService service(job[0], control_channel, own_secret(), refused);
  service.open_by_callers([] {}, answer_nothing);

  REQUIRE(service.calls() != nullptr);
  CHECK(service.calls()->needs_the_other_caller());
}

TEST_CASE("a request is answered only once callers do so") {
  FakeJob job(2);
  ControlChannel control_channel(job[0]);
  Refused refused;
  CallService service(job[0], control_channel, own_secret(), refused);
  control::Request request;
  request.size = Call::front_bytes;

  service.on_request(ProcessId(1), request);
  CHECK(job.messages_for(1) == 0);
  service.open_by_callers([] {}, answer_nothing);
  service.on_request(ProcessId(1), request);
  CHECK(job.messages_for(1) == 1);
}

TEST_SUITE_END();
