#include "src/device/worker.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include "support/float_states.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/worker");

namespace {

void no_failure(std::exception_ptr /*failure*/) {
  FAIL_CHECK("no task fails here");
}

void wait_until_idle(Worker const& worker) {
  while (!worker.idle()) std::this_thread::yield();
}

/// What a poster keeps: as many records as the ring has slots, each appending a number to a list.
struct Numbers {
  struct Record {
    std::vector<std::uint64_t>* list;
    std::uint64_t number;
  };
  std::vector<std::uint64_t> list;
  std::vector<Record> records{Worker::capacity, Record{&list, 0}};

  static void run(void* record) {
    auto const* const r = static_cast<Record*>(record);
    r->list->push_back(r->number);
  }
  void post_next(Worker& worker) {
    auto& record = records[worker.posted() % Worker::capacity];
    record.number = worker.posted();
    worker.post({run, &record});
  }
};

/// A task that holds its worker until it is opened.
struct Gate {
  std::atomic<bool> open{false};
  static void run(void* record) {
    while (!static_cast<Gate*>(record)->open) std::this_thread::yield();
  }
};

void count_up(void* record) {
  ++*static_cast<int*>(record);
}
void give_up(void* /*record*/) {
  throw std::runtime_error("the task gives up");
}

}  // namespace

TEST_CASE("tasks run in order, also when the ring wraps and fills") {
  Numbers numbers;
  constexpr std::uint64_t count = 20 * Worker::capacity + 7;
  {
    Worker worker(no_failure);
    for (std::uint64_t i = 0; i < count; ++i) {
      while (!worker.has_room()) std::this_thread::yield();
      numbers.post_next(worker);
    }
    wait_until_idle(worker);
    CHECK(worker.posted() == count);
    CHECK(worker.done() == count);
  }

  REQUIRE(numbers.list.size() == count);
  for (std::uint64_t i = 0; i < count; ++i) REQUIRE(numbers.list[i] == i);
}

TEST_CASE("the ring has room for 64 tasks, and for one more when one is done") {
  Gate gate;
  int ran = 0;
  Worker worker(no_failure);

  worker.post({Gate::run, &gate});
  for (std::uint64_t i = 1; i < Worker::capacity; ++i) {
    REQUIRE(worker.has_room());
    worker.post({count_up, &ran});
  }
  CHECK_FALSE(worker.has_room());
  CHECK_FALSE(worker.idle());
  CHECK(worker.done() == 0);

  gate.open = true;
  while (!worker.has_room()) std::this_thread::yield();
  worker.post({count_up, &ran});
  wait_until_idle(worker);
  CHECK(ran == 64);
}

TEST_CASE("what a task wrote is seen by whoever sees it done") {
  int value = 0;
  Worker worker(no_failure);
  for (int i = 1; i <= 5'000; ++i) {
    worker.post({count_up, &value});
    wait_until_idle(worker);
    REQUIRE(value == i);
  }
}

TEST_CASE("a worker that fell asleep wakes for the next task") {
  int value = 0;
  Worker worker(no_failure);
  for (int i = 1; i <= 300; ++i) {
    // Longer and longer pauses, from none to far past the last yield, meet it at every stage.
    for (int pause = 0; pause < 4 * i; ++pause) std::this_thread::yield();
    worker.post({count_up, &value});
    wait_until_idle(worker);
    REQUIRE(value == i);
  }
}

TEST_CASE("an idle worker falls asleep and takes no time from others") {
  pid_t thread = 0;
  Worker worker(no_failure);
  worker.post({[](void* record) { *static_cast<pid_t*>(record) = ::gettid(); }, &thread});
  wait_until_idle(worker);

  char state = '?';
  for (int look = 0; look < 100'000 && state != 'S'; ++look) {
    std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string number;
    std::string name;
    status >> number >> name >> state;
    std::this_thread::yield();
  }

  CHECK(state == 'S');
}

TEST_CASE("the destructor finishes what is queued") {
  int ran = 0;
  Gate gate;
  {
    Worker worker(no_failure);
    worker.post({Gate::run, &gate});
    for (int i = 0; i < 40; ++i) worker.post({count_up, &ran});
    gate.open = true;
  }

  CHECK(ran == 40);
}

TEST_CASE("a worker without work ends at once, awake or asleep") {
  for (int pauses : {0, 10, 100'000}) {
    auto worker = std::make_unique<Worker>(no_failure);
    for (int i = 0; i < pauses; ++i) std::this_thread::yield();
    CHECK_NOTHROW(worker.reset());
  }
}

TEST_CASE("after a failure later tasks are skipped but count as done") {
  int ran = 0;
  std::vector<std::string> failures;
  Worker worker([&failures](std::exception_ptr failure) {
    try {
      std::rethrow_exception(failure);
    } catch (std::exception const& error) {
      failures.emplace_back(error.what());
    }
  });

  worker.post({count_up, &ran});
  worker.post({give_up, nullptr});
  worker.post({count_up, &ran});
  worker.post({give_up, nullptr});
  wait_until_idle(worker);
  CHECK(ran == 1);
  CHECK(worker.done() == 4);
  CHECK(worker.has_failed());
  CHECK(failures == std::vector<std::string>{"the task gives up"});

  worker.clear_failure();
  worker.post({count_up, &ran});
  wait_until_idle(worker);
  CHECK(ran == 2);
  CHECK_FALSE(worker.has_failed());
}

TEST_CASE("the thread carries the device's number in its name") {
  struct Name {
    char text[16] = {};
    static void run(void* record) {
      ::pthread_getname_np(::pthread_self(), static_cast<Name*>(record)->text, 16);
    }
  };
  Name name;
  {
    Worker worker(no_failure, 12);
    worker.post({Name::run, &name});
  }

  CHECK(std::string(name.text) == "tessera-12");
}

TEST_CASE("many workers share few cores") {
  int ran[8] = {};
  {
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < 8; ++i) workers.push_back(std::make_unique<Worker>(no_failure, i));
    for (int round = 0; round < 500; ++round)
      for (std::size_t i = 0; i < 8; ++i) {
        while (!workers[i]->has_room()) std::this_thread::yield();
        workers[i]->post({count_up, &ran[i]});
      }
  }

  for (int const count : ran) CHECK(count == 500);
}

TEST_CASE("a worker computes in the default floating-point state, whatever its maker has set") {
  for (auto const& state : test::other_states()) {
    CAPTURE(state.name);
    test::SetState seen = state;
    {
      test::InState const own(state);
      Worker worker(no_failure);
      worker.post(
          {[](void* into) { *static_cast<test::SetState*>(into) = test::state_now(); }, &seen});
      wait_until_idle(worker);
    }
    CHECK(seen == test::SetState());
  }
}

TEST_SUITE_END();
