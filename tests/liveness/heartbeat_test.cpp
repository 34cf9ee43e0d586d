#include "src/liveness/heartbeat.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/secrets.hpp"
#include "support/transport_thread_job.hpp"

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;

/// Once is enough: not in every process of a spread.
TEST_SUITE_BEGIN("liveness/heartbeat" * doctest::skip(launched_by_mpi()));

namespace {

/// A process of a host, as far as its signs of life go.
struct Process {
  std::unique_ptr<Bootstrap> bootstrap;
  ProgressThread thread;
  std::unique_ptr<DescriptorServer> descriptor_server;
  std::unique_ptr<Heartbeats> heartbeats;
};

class Host {
 public:
  explicit Host(std::size_t count) : job_(static_cast<std::int64_t>(count)), processes_(count) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back([this, i] {
        auto& process = processes_[i];
        process.bootstrap = job_.join(static_cast<std::int64_t>(i));
        process.descriptor_server =
            std::make_unique<DescriptorServer>(process.thread, SegmentWays{});
        process.heartbeats = std::make_unique<Heartbeats>(
            *process.bootstrap, process.thread, *process.descriptor_server,
            RemoteHeartbeats::Trust{own_secret(), refused_});
      });
  }
  Process& operator[](std::size_t i) { return processes_[i]; }

 private:
  ThreadJob job_;
  Refused refused_;
  std::vector<Process> processes_;
};

/// Looks until there is trouble, or for that long.
std::string trouble_within(std::chrono::milliseconds time, Heartbeats& heartbeats,
                           double silence_seconds) {
  HeartbeatWatch watch;
  auto const end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (auto const reason = heartbeats.failure_of(ProcessId(1), watch, silence_seconds))
      return *reason;
    std::this_thread::yield();
  }
  return "none";
}

}  // namespace

TEST_CASE("a process that beats is no trouble") {
  Host host(2);
  CHECK(trouble_within(200ms, *host[0].heartbeats, 60) == "none");
  CHECK_FALSE(host[0].heartbeats->death_of(ProcessId(1)));
}

TEST_CASE("a process whose thread has stopped is told after the silence that is allowed") {
  Host host(2);
  host[1].thread.stop();

  auto const reason = trouble_within(20s, *host[0].heartbeats, 0.1);

  CHECK(reason.find("process 1 (pid ") == 0);
  CHECK(reason.find("has given no heartbeat for 0.1 s") != std::string::npos);
}

TEST_CASE("a process that has left in good order may be silent") {
  Host host(2);
  host[1].heartbeats->leave();
  host[1].thread.stop();

  CHECK(trouble_within(200ms, *host[0].heartbeats, 0) == "none");
}

TEST_CASE("processes of a host see each other's memory, and not their own as another's") {
  Host host(2);
  CHECK(host[0].heartbeats->sees(ProcessId(1)));
  CHECK_FALSE(host[0].heartbeats->sees(ProcessId(0)));
  CHECK_FALSE(host[0].heartbeats->has_other_hosts());
}

TEST_CASE("what a process shows is found by the others of its host") {
  Host host(2);
  std::string reason;
  CHECK_FALSE(host[0].heartbeats->directory_of(ProcessId(1), reason));
  CHECK(reason == "process 1 has no memory to share");

  auto const segment = Segment::make(100);
  host[1].heartbeats->show_directory(segment.ticket());

  auto const found = host[0].heartbeats->directory_of(ProcessId(1), reason);
  REQUIRE(found);
  CHECK(found->nonce == segment.ticket().nonce);
  CHECK(found->size_bytes == 100);
  CHECK_FALSE(host[0].heartbeats->directory_of(ProcessId(0), reason));
}

TEST_SUITE_END();
