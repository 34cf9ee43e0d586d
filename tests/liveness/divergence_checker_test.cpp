#include "src/liveness/divergence_checker.hpp"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

/// Comparisons between processes of one thread: control messages arrive when the test says so.
TEST_SUITE_BEGIN("liveness/divergence_checker");

namespace {

struct Process {
  explicit Process(FakeBootstrap& bootstrap) : job(bootstrap, 1), control_channel(bootstrap) {}

  /// Statements from `next_` on, each with that hash.
  void say(std::uint64_t count, std::uint64_t hash = 5) {
    for (std::uint64_t i = 0; i < count; ++i)
      checker.say({++said, hash, SourceLocation("a.cpp", 1)},
                  [hash] { return text(", kind ", hash); });
  }
  void end() {
    checker.say_end({said + 1, 99, {}}, [] { return std::string(" of the program"); });
  }
  void hear() {
    checker.tell();
    control_channel.poll([this](ProcessId from, std::span<std::byte const> bytes) {
      switch (control::kind_of(bytes)) {
        case control::Kind::digests:
          return checker.on_digests(from, control::read<control::Digests>(bytes));
        case control::Kind::compared:
          return checker.on_compared(from, control::read<control::Compared>(bytes));
        case control::Kind::ask:
          return checker.on_ask(from, control::read<control::Ask>(bytes));
        default:
          return checker.on_description(from, control::read<control::StatementDescription>(bytes));
      }
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
  ControlChannel control_channel;
  Failure failure;
  DivergenceChecker checker{control_channel, job, failure};
  std::uint64_t said = 0;
};

class World {
 public:
  explicit World(std::int64_t count) : fake_(count) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      processes_.push_back(std::make_unique<Process>(fake_[i]));
  }
  Process& operator[](std::size_t i) { return *processes_[i]; }
  void hear_all() {
    for (std::size_t round = 0; round < 3 * processes_.size(); ++round)
      for (auto const& process : processes_) process->hear();
  }

 private:
  FakeJob fake_;
  std::vector<std::unique_ptr<Process>> processes_;
};

std::vector<ProcessId> numbers(std::vector<std::int64_t> const& ranks) {
  std::vector<ProcessId> processes;
  for (auto const rank : ranks) processes.emplace_back(rank);
  return processes;
}

}  // namespace

TEST_CASE("processes form a tree: the parent is the number with its lowest bit cleared") {
  World world(7);
  CHECK(world[0].checker.neighbours() == numbers({1, 2, 4}));
  CHECK(world[1].checker.neighbours() == numbers({0}));
  CHECK(world[4].checker.neighbours() == numbers({0, 5, 6}));
  CHECK(world[6].checker.neighbours() == numbers({4}));
}

TEST_CASE("who says the same is not behind once all has been compared") {
  World world(4);
  for (std::size_t i = 0; i < 4; ++i) {
    world[i].say(40);
    world[i].end();
  }
  CHECK(world[0].checker.behind(0));

  world.hear_all();

  for (std::size_t i = 0; i < 4; ++i) {
    CHECK_FALSE(world[i].checker.behind(0));
    CHECK(world[i].failure_words() == "none");
  }
}

TEST_CASE("a parent that is ahead waits for the child that has said less") {
  World world(3);
  world[0].say(30);
  world[1].say(30);
  world[2].say(10);
  world.hear_all();

  CHECK(world[0].checker.behind(19) == ProcessId(2));
  CHECK_FALSE(world[0].checker.behind(20));
}

TEST_CASE("who waits hears as soon as all has been compared, before the end") {
  World world(4);
  for (std::size_t i = 0; i < 4; ++i) world[i].say(40);
  world.hear_all();
  CHECK(world[3].checker.behind(0));

  for (std::size_t i = 0; i < 4; ++i) world[i].checker.tell_and_wait();
  world.hear_all();

  for (std::size_t i = 0; i < 4; ++i) CHECK_FALSE(world[i].checker.behind(0));
}

TEST_CASE("who waits for a parent that comes later hears when it has come") {
  World world(2);
  world[1].say(3);
  world[1].checker.tell_and_wait();
  world.hear_all();
  CHECK(world[1].checker.behind(2));

  world[0].say(3);
  world.hear_all();

  CHECK_FALSE(world[1].checker.behind(0));
}

TEST_CASE("a difference is told with both statements") {
  World world(2);
  world[0].say(3);
  world[1].say(2);
  world[0].say(1, 6);
  world[1].say(2, 7);
  world.hear_all();

  CHECK(world[0].failure_words() ==
        "process 0 is at statement 3 (a.cpp:1), kind 5, but process 1 is at statement 3 (a.cpp:1), "
        "kind 7: the processes run different programs; every process must run the same statements "
        "in the same order");
  CHECK(world[1].failure_words() == "none");
}

TEST_CASE("a process that ends earlier differs by its end") {
  World world(2);
  world[0].say(2);
  world[0].end();
  world[1].say(3);
  world.hear_all();

  CHECK(world[0].failure_words().find("process 0 is at its end of the program, but process 1 is "
                                      "at statement 3 (a.cpp:1), kind 5") == 0);
}

TEST_CASE("statements that read alike but differ are said to differ in what is not read") {
  World world(2);
  world[0].checker.say({1, 5, {}}, [] { return std::string(); });
  world[1].checker.say({1, 6, {}}, [] { return std::string(); });
  world.hear_all();

  CHECK(world[0].failure_words().find(
            "; the two differ in the expression, its slices, its numbers or the layouts: ") !=
        std::string::npos);
}

TEST_CASE("what neither a child nor the parent sends is refused") {
  World world(4);
  auto& checker = world[2].checker;  // its parent is process 0, its child process 3
  world[2].say(20);
  world[2].hear();
  auto const from = [](std::int64_t process) { return ProcessId(process); };

  CHECK_THROWS_AS(checker.on_digests(from(1), {}), control::BadMessage);
  CHECK_THROWS_AS(checker.on_description(from(0), {}), control::BadMessage);
  CHECK_THROWS_WITH_AS(checker.on_description(from(3), {}),
                       "the description of a statement, unasked", control::BadMessage);
  CHECK_THROWS_AS(checker.on_compared(from(3), {.statements = 1}), control::BadMessage);
  CHECK_THROWS_WITH_AS(checker.on_compared(from(0), {.statements = 21}),
                       "a result of comparing 21 statements of 20", control::BadMessage);
  CHECK_THROWS_AS(checker.on_ask(from(3), {.number = 1}), control::BadMessage);
  CHECK_THROWS_AS(checker.on_ask(from(0), {.number = 0}), control::BadMessage);
  CHECK_THROWS_AS(checker.on_ask(from(0), {.number = 21}), control::BadMessage);
  CHECK_NOTHROW(checker.on_ask(from(0), {.number = 20}));
  CHECK_NOTHROW(checker.on_compared(from(0), {.statements = 20}));
  CHECK_THROWS_AS(checker.on_compared(from(0), {.statements = 19}), control::BadMessage);
}

TEST_CASE("the first process has no parent that could ask it") {
  World world(2);
  world[0].say(1);
  CHECK_THROWS_AS(world[0].checker.on_ask(ProcessId(1), {.number = 1}), control::BadMessage);
}

TEST_SUITE_END();
