#include "src/liveness/wait_policy.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/job/ipc/descriptor_server.hpp"
#include "src/job/ipc/progress_thread.hpp"
#include "src/job/launch.hpp"
#include "src/transport/channel/transport.hpp"

#include "support/captured.hpp"
#include "support/fake_job.hpp"
#include "support/secrets.hpp"
#include "support/transport_thread_job.hpp"

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
  StallWarnings warnings;
  WaitContext context{job, options, failure, heartbeats, waits, warnings};

  int progressed = 0;
  int polled = 0;
  std::optional<ProcessId> lost;
  std::set<ProcessId> peers;
  CallerWaitPolicy caller{context,
                          waits.caller(),
                          {[this] { return progress(); }, [this] { ++polled; }, [](auto) {},
                           [this]() -> std::set<ProcessId> const& { return peers; }}};
  WorkerWaitPolicy worker{context, waits.worker(DeviceId(0))};

  bool progress() {
    ++progressed;
    if (lost) throw ConnectionLost(*lost, "the wire is cut");
    return false;
  }
};

/// A process of another host than all others.
struct RemoteProcess {
  RemoteProcess(ThreadJob& all, std::int64_t rank) : together(all), self(rank) {}
  ~RemoteProcess() { die(); }
  RemoteProcess(RemoteProcess const&) = delete;
  RemoteProcess& operator=(RemoteProcess const&) = delete;

  /// Starts all of them, each on a thread of its own since they meet.
  static void start(std::vector<RemoteProcess*> const& processes) {
    std::vector<std::jthread> threads;
    for (auto* const process : processes)
      threads.emplace_back([process] {
        process->bootstrap = process->together.join(process->self);
        process->job.emplace(*process->bootstrap, 1);
        process->heartbeats = std::make_unique<Heartbeats>(
            *process->bootstrap, process->thread, process->descriptor_server,
            RemoteHeartbeats::Trust{own_secret(), process->refused});
      });
  }
  /// Waits until an answer of `peer` has come.
  void know(ProcessId peer) const {
    HeartbeatWatch watch;
    while (watch.peer_heartbeats == 0) {
      (void)heartbeats->failure_of(peer, watch, 1e9);
      std::this_thread::yield();
    }
  }
  /// Ends it as the system would: its socket is closed.
  void die() {
    thread.stop();
    heartbeats.reset();
  }

  ThreadJob& together;
  std::int64_t self;
  std::unique_ptr<Bootstrap> bootstrap;
  ProgressThread thread;
  DescriptorServer descriptor_server{thread, {}};
  std::optional<Job> job;
  Refused refused;
  std::unique_ptr<Heartbeats> heartbeats;
};

Awaited const message{Awaited::Kind::message, DeviceId(0), DeviceId(1), 1, {7, 70, {}}};

constexpr std::array all_kinds{Awaited::Kind::message,    Awaited::Kind::free_slot,
                               Awaited::Kind::invitation, Awaited::Kind::worker,
                               Awaited::Kind::checker,    Awaited::Kind::answer,
                               Awaited::Kind::finish,     Awaited::Kind::note,
                               Awaited::Kind::gpu,        Awaited::Kind::other};

Awaited waiting_for(Awaited::Kind kind) {
  return {kind, DeviceId(0), DeviceId(1), 1, {7, 70, {}}};
}

/// Waits in a process alone for longer than it may without a word.
void wait_too_long(Awaited const& what, bool is_worker) {
  Process process;
  process.options.stall_seconds = 0.2;
  auto& policy = is_worker ? process.worker : process.caller;
  auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
  policy.until([&] { return std::chrono::steady_clock::now() > end; }, what);
}

/// How often `words` stand in `all`.
int times(std::string const& words, std::string const& all) {
  int count = 0;
  for (auto at = all.find(words); at != all.npos; at = all.find(words, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("where many wait for one, the first are reported") {
  StallWarnings warnings;
  auto const seen = test::captured([&] {
    for (int i = 0; i < 4000; ++i) warnings.print([&] { return text("device ", i, " waits"); });
  });

  CHECK(times("warning: device ", seen.errors) == 16);
  CHECK(times("\n", seen.errors) == 17);
  CHECK(seen.errors.ends_with("warning: more long waits than these are not reported one by one\n"));
}

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

TEST_CASE(
    "a long computation drives the transports on the caller's thread, which waits for nothing") {
  Process process;
  process.caller.drive();
  CHECK(process.progressed == 1);
}

// A look that took long also polls, as any does from time to time. So on a busy machine there may
// be more polls than these tests want.
TEST_CASE("who waits for a channel or a handshake looks for control messages at every look") {
  for (auto const kind : {Awaited::Kind::invitation, Awaited::Kind::note}) {
    Process process;
    process.caller.set_spins(0);
    int looks = 0;
    process.caller.until([&] { return ++looks == 6; }, {kind, DeviceId(0), DeviceId(1), 0, {}});
    CHECK(process.polled >= 5);
  }
}

TEST_CASE("who waits for a message looks for control messages once a millisecond at most") {
  Process process;
  process.caller.set_spins(0);
  int looks = 0;

  auto const began = std::chrono::steady_clock::now();
  process.caller.until([&] { return ++looks == 6; }, message);
  auto const took = std::chrono::steady_clock::now() - began;

  CHECK(process.polled <= 1 + took / std::chrono::milliseconds(1));
}

TEST_CASE("where callers answer calls, every look is one for control messages") {
  Process process;
  process.caller.set_spins(0);
  process.caller.poll_often(true);
  int looks = 0;

  process.caller.until([&] { return ++looks == 6; }, message);

  CHECK(process.polled >= 5);
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
       [&]() -> std::set<ProcessId> const& { return process.peers; }});

  CHECK_THROWS_WITH_AS(caller.until([] { return false; }, message), "told", PeerFailed);
}

// A process alone has no table of processes to take a name from.
TEST_CASE("a long wait of a process alone is told with the device it waits for, and goes on") {
  auto const peer = "; device 1 of this process may only be late, so the wait goes on";
  auto const others = "; some of those it depends on may only be late, so the wait goes on";

  auto const result = captured([] {
    std::vector<std::jthread> threads;
    for (auto const kind : all_kinds)
      for (bool const is_worker : {true, false})
        threads.emplace_back([=] { wait_too_long(waiting_for(kind), is_worker); });
  });

  CHECK(result.status == 0);
  CAPTURE(result.errors);
  for (auto const kind : all_kinds) {
    auto const what = waiting_for(kind);
    auto const begin = text(what, ", and has done so for 0.2 s");
    bool const is_for_others = kind == Awaited::Kind::finish || kind == Awaited::Kind::gpu;
    auto const told = times(begin, result.errors);
    CAPTURE(begin);
    CHECK(told == (what.has_peer() || is_for_others ? 2 : 0));
    CHECK(times(begin + (is_for_others ? others : peer), result.errors) == told);
  }
}

TEST_CASE("a process alone names itself, and has no failed or lost peer") {
  Process process;
  HeartbeatWatch watch;
  std::string reason;

  CHECK(process.heartbeats.name_of(ProcessId(0)) == "process 0");
  CHECK_FALSE(process.heartbeats.failure_of(ProcessId(0), watch, 0));
  CHECK_FALSE(process.heartbeats.death_of(ProcessId(0)));
  CHECK_FALSE(process.heartbeats.sees(ProcessId(0)));
  CHECK_FALSE(process.heartbeats.directory_of(ProcessId(0), reason));
  CHECK_FALSE(reason.empty());
}

TEST_CASE("a peer on another host that has died ends the wait of a GPU at once" *
          doctest::skip(launched_by_mpi())) {
  ThreadJob together(2, 1);
  RemoteProcess self(together, 0);
  RemoteProcess peer(together, 1);
  RemoteProcess::start({&self, &peer});
  self.know(ProcessId(1));
  peer.die();
  NetworkOptions options;
  options.silence_seconds = 1e9;
  Failure failure;
  WaitRegistry waits{*self.job};
  StallWarnings warnings;
  std::set<ProcessId> const peers{ProcessId(1)};
  CallerWaitPolicy caller({*self.job, options, failure, *self.heartbeats, waits, warnings},
                          waits.caller(),
                          {[] { return false; }, [] {}, [](auto) {},
                           [&]() -> std::set<ProcessId> const& { return peers; }});
  waits.worker(DeviceId(0)).begin({Awaited::Kind::gpu, DeviceId(0), {}, 0, {}});
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);

  CHECK_THROWS_WITH_AS(caller.until([&] { return std::chrono::steady_clock::now() > end; },
                                    {Awaited::Kind::worker, DeviceId(0), DeviceId(0), 0, {}}),
                       doctest::Contains("has died, while "), PeerFailed);
}

TEST_SUITE_END();
