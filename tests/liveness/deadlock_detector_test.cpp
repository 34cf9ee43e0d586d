#include "src/liveness/deadlock_detector.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

/// Questions between processes of one thread: the test says who waits, what time it is, and when
/// control messages arrive.
TEST_SUITE_BEGIN("liveness/deadlock_detector");

namespace {

using Clock = DeadlockDetector::Clock;

struct Process {
  explicit Process(FakeBootstrap& bootstrap)
      : job(bootstrap, 1), waits(job), control_channel(bootstrap) {}

  void wait_for(std::int64_t peer, Awaited::Kind kind = Awaited::Kind::message) {
    waits.caller().begin(
        {kind, job.first_local(), DeviceId(peer), 1, {7, 70, SourceLocation("a.cpp", 3)}});
  }
  void stop_waiting() { waits.caller().end(); }

  void hear() {
    control_channel.poll([this](ProcessId from, std::span<std::byte const> bytes) {
      if (control::kind_of(bytes) == control::Kind::probe)
        detector.on_probe(control::read<control::Probe>(bytes));
      else
        detector.on_finished(from, control::read<control::Finished>(bytes));
    });
  }
  [[nodiscard]] std::string failure_words() const {
    try {
      failure.throw_if_set();
    } catch (Mismatch const& mismatch) {
      return mismatch.what();
    }
    return "none";
  }

  Job job;
  WaitRegistry waits;
  ControlChannel control_channel;
  Failure failure;
  bool has_put = false;
  DeadlockDetector detector{control_channel, job, waits, [this](auto const&) { return has_put; },
                            failure,         1.0};
};

/// Processes of one device each.
class World {
 public:
  explicit World(std::int64_t count) : fake_(count) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      processes_.push_back(std::make_unique<Process>(fake_[i]));
  }
  Process& operator[](std::size_t i) { return *processes_[i]; }

  /// Everybody looks at the clock, two seconds later than before, and hears what the others ask.
  void ask_and_hear() {
    now_ += std::chrono::seconds(2);
    for (auto const& process : processes_) process->detector.ask(now_);
    for (std::size_t round = 0; round < 3 * processes_.size(); ++round)
      for (auto const& process : processes_) process->hear();
  }

 private:
  FakeJob fake_;
  Clock::time_point now_ = Clock::now() + std::chrono::hours(1);
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace

TEST_CASE("a wait is asked about once it is long, and then now and then") {
  using namespace std::chrono_literals;
  FakeJob fake(2);
  Process zero(fake[0]);
  auto const begin = Clock::now();
  zero.wait_for(1);

  zero.detector.ask(begin);
  zero.detector.ask(begin + 900ms);
  CHECK(fake.messages_for(1) == 0);
  zero.detector.ask(begin + 1100ms);
  zero.detector.ask(begin + 1200ms);
  CHECK(fake.messages_for(1) == 1);
  zero.detector.ask(begin + 2200ms);
  CHECK(fake.messages_for(1) == 2);
}

TEST_CASE("two that wait for each other are a mismatch when they are found so twice") {
  World world(2);
  world[0].wait_for(1);
  world[1].wait_for(0);

  world.ask_and_hear();
  world.ask_and_hear();
  CHECK(world[0].failure_words() == "none");
  world.ask_and_hear();

  CHECK(world[0].failure_words() ==
        "device 0 waits for device 1 at statement 7 (a.cpp:3), and device 1 waits for device 0 at "
        "statement 7 (a.cpp:3): none of these waits can end, so the processes run different "
        "programs; every process must run the same statements in the same order");
}

TEST_CASE("a longer circle is told by its first wait, its length and its last wait") {
  World world(3);
  for (std::int64_t i = 0; i < 3; ++i) world[static_cast<std::size_t>(i)].wait_for((i + 1) % 3);

  for (int look = 0; look < 3; ++look) world.ask_and_hear();

  auto const words = world[0].failure_words();
  CHECK(words.find("and so on through 3 waits until device 2 waits for device 0") !=
        std::string::npos);
}

TEST_CASE("a device that waits for itself is named alone") {
  World world(1);
  world[0].wait_for(0);

  for (int look = 0; look < 3; ++look) world.ask_and_hear();

  CHECK(world[0].failure_words().find("device 0 waits for device 0 at statement 7 (a.cpp:3) "
                                      "(itself): none of these waits can end") == 0);
}

TEST_CASE("a wait that is not always the same is in no circle") {
  World world(2);
  world[0].wait_for(1);
  for (int look = 0; look < 6; ++look) {
    world[1].wait_for(0);
    world.ask_and_hear();
    world[1].stop_waiting();
  }
  CHECK(world[0].failure_words() == "none");
}

TEST_CASE("a wait for something that has been done is in no circle") {
  World world(2);
  world[0].wait_for(1);
  world[1].wait_for(0);
  world[1].has_put = true;

  for (int look = 0; look < 6; ++look) world.ask_and_hear();

  CHECK(world[0].failure_words() == "none");
  CHECK(world[1].failure_words() == "none");
}

TEST_CASE("a wait for a process that computes goes on") {
  World world(2);
  world[0].wait_for(1);

  for (int look = 0; look < 6; ++look) world.ask_and_hear();

  CHECK(world[0].failure_words() == "none");
}

TEST_CASE("a wait that nobody may follow is in no circle") {
  World world(2);
  world[0].wait_for(1, Awaited::Kind::checker);
  world[1].wait_for(0, Awaited::Kind::checker);

  for (int look = 0; look < 6; ++look) world.ask_and_hear();

  CHECK(world[0].failure_words() == "none");
}

TEST_CASE("a process that runs into a circle of others leaves it to them") {
  World world(3);
  world[0].wait_for(1);
  world[1].wait_for(2);
  world[2].wait_for(1);

  for (int look = 0; look < 6; ++look) world.ask_and_hear();

  CHECK(world[0].failure_words() == "none");
  CHECK(world[1].failure_words() != "none");
  CHECK(world[2].failure_words() != "none");
}

TEST_CASE("who waits for a process that is done is told after which statement that ended") {
  World world(2);
  world[1].detector.set_last_statement({3, 30, SourceLocation("a.cpp", 2)});
  world[1].detector.set_finished();
  world[0].wait_for(1);

  world.ask_and_hear();
  world.ask_and_hear();

  CHECK(world[0].failure_words().find(
            "process 1 has ended after statement 3 (a.cpp:2), but device 0 waits for message 1") ==
        0);
}

TEST_CASE("a process that is done after the same statement has not done its part") {
  World world(2);
  world[1].detector.set_last_statement({9, 90, {}});
  world[1].detector.set_finished();
  world[0].wait_for(1);

  world.ask_and_hear();
  world.ask_and_hear();

  CHECK(world[0].failure_words().find(
            "process 1 has ended after statement 9 without doing its part, but device 0") == 0);
}

TEST_CASE("a question about a device of others, or of nobody, is refused") {
  World world(2);
  control::Probe probe;
  for (std::int64_t const device : {1, 2, -1}) {
    probe.last.peer = DeviceId(device);
    CHECK_THROWS_AS(world[0].detector.on_probe(probe), control::BadMessage);
  }
  probe.last.peer = DeviceId(0);
  CHECK_NOTHROW(world[0].detector.on_probe(probe));
  probe.initiator_process = ProcessId(2);
  CHECK_THROWS_WITH_AS(world[0].detector.on_probe(probe), "a question of process 2 about device 0",
                       control::BadMessage);
}

TEST_SUITE_END();
