#include "src/liveness/wait_policy.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/job/ipc/descriptor_server.hpp"
#include "src/job/ipc/progress_thread.hpp"
#include "src/transport/channel/transport.hpp"

#include "support/fake_job.hpp"
#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("liveness/wait_policy");

namespace {

/// The waits of a process alone, and what its caller's thread is asked to do.
struct Process {
  FakeJob fake{1};
  Job job{fake[0], 2};
  NetworkOptions options;
  Failure failure;
  ProgressThread thread;
  DescriptorServer descriptor_server{thread, {}};
  Refused refused;
  Heartbeats heartbeats{fake[0], thread, descriptor_server, {own_secret(), refused}};
  WaitRegistry waits{job};
  WaitContext context{job, options, failure, heartbeats, waits};

  int progressed = 0;
  int polled = 0;
  std::optional<ProcessId> lost;
  std::set<ProcessId> partners;
  CallerWaitPolicy caller{context,
                          waits.caller(),
                          {[this] { return progress(); }, [this] { ++polled; }, [](auto) {},
                           [this]() -> std::set<ProcessId> const& { return partners; }}};
  WorkerWaitPolicy worker{context, waits.worker(DeviceId(0))};

  bool progress() {
    ++progressed;
    if (lost) throw ConnectionLost(*lost, "the wire is cut");
    return false;
  }
};

Awaited const message{Awaited::Kind::message, DeviceId(0), DeviceId(1), 1, {7, 70, {}}};

}  // namespace

TEST_CASE("a wait is ended by the first failure of any thread") {
  Process process;
  process.failure.set(std::make_exception_ptr(Mismatch("they differ")));

  CHECK_THROWS_WITH_AS(process.worker.until([] { return false; }, message), "they differ",
                       Mismatch);
  CHECK_THROWS_WITH_AS(process.caller.until([] { return false; }, message), "they differ",
                       Mismatch);
  CHECK_FALSE(process.waits.worker(DeviceId(0)).read());
  CHECK_FALSE(process.waits.caller().read());
}

TEST_CASE("a long wait is seen by others while it goes on") {
  Process process;
  process.worker.set_spins(0);
  int looks = 0;

  process.worker.until(
      [&] {
        auto const seen = process.waits.worker(DeviceId(0)).read();
        if (++looks > 1) CHECK(seen.value().what.peer == DeviceId(1));
        return looks == 3;
      },
      message);

  CHECK_FALSE(process.waits.worker(DeviceId(0)).read());
}

TEST_CASE("the caller's thread drives the transports at every look") {
  Process process;
  process.caller.set_spins(0);
  int looks = 0;

  process.caller.until([&] { return ++looks == 6; }, message);

  CHECK(process.progressed == 5);
}

TEST_CASE("who waits for a channel or a handshake looks for control messages at every look") {
  for (auto const kind : {Awaited::Kind::invitation, Awaited::Kind::note}) {
    Process process;
    process.caller.set_spins(0);
    int looks = 0;
    process.caller.until([&] { return ++looks == 6; }, {kind, DeviceId(0), DeviceId(1), 0, {}});
    CHECK(process.polled == 5);
  }
  Process process;
  process.caller.set_spins(0);
  int looks = 0;
  process.caller.until([&] { return ++looks == 6; }, message);
  CHECK(process.polled == 0);
}

TEST_CASE("where callers answer calls, every look is one for control messages") {
  Process process;
  process.caller.set_spins(0);
  process.caller.poll_often(true);
  int looks = 0;

  process.caller.until([&] { return ++looks == 6; }, message);

  CHECK(process.polled == 5);
}

TEST_CASE("a connection that is lost ends the wait, with what was waited for") {
  Process process;
  process.lost = ProcessId(0);

  CHECK_THROWS_WITH_AS(process.caller.until([] { return false; }, message),
                       "the wire is cut, while device 0 waits for message 1 of device 1 for "
                       "statement 7",
                       PeerFailed);
}

TEST_CASE("a connection that is lost because its process gave up ends the wait with that") {
  Process process;
  process.lost = ProcessId(0);
  CallerWaitPolicy caller(
      process.context, process.waits.caller(),
      {[&] { return process.progress(); },
       [&] { process.failure.set(std::make_exception_ptr(PeerFailed("told"))); }, [](auto) {},
       [&]() -> std::set<ProcessId> const& { return process.partners; }});

  CHECK_THROWS_WITH_AS(caller.until([] { return false; }, message), "told", PeerFailed);
}

TEST_SUITE_END();
