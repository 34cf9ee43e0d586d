#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "contract.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("network/mismatch");

namespace {

NetworkOptions quick() {
  NetworkOptions options;
  options.question_seconds = 0.1;
  return options;
}

/// The text of the first failure that is a Mismatch.
std::string mismatch_of(std::vector<std::exception_ptr> const& failures) {
  for (auto const& failure : failures) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (Mismatch const& mismatch) {
      return mismatch.what();
    }
  }
  return "no mismatch";
}

bool contains(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Asks as soon as it can.
NetworkOptions nervous() {
  NetworkOptions options;
  options.question_seconds = 0;
  return options;
}

/// Waits for a while as if for the first message of the right neighbour.
void wait_as_if(Device const& device, std::chrono::milliseconds span) {
  auto const end = std::chrono::steady_clock::now() + span;
  device.waiter.until([&] { return std::chrono::steady_clock::now() > end; },
                      {Awaited::Kind::message, device.self, device.right(), 1, statement(1)});
}

/// Nobody goes on before all devices are here.
void wait_for_all(Device const& device, std::atomic<int>& arrived) {
  ++arrived;
  device.waiter.until([&] { return arrived == device.count; }, {.kind = Awaited::Kind::other});
}

}  // namespace

TEST_CASE("a message of another statement is a mismatch that names both with their places") {
  auto const text = mismatch_of(try_on_processes(
      {1, 1},
      [](Device const& device) {
        if (device.self == DeviceId(1)) {
          put_number(device.to(DeviceId(0)), device.waiter, statement(7, "src/b.cpp", 12, 99), 5);
        } else {
          (void)take_number(device.from(DeviceId(1)), device.waiter,
                            statement(7, "src/a.cpp", 40, 98));
        }
      },
      quick()));

  CAPTURE(text);
  CHECK(contains(text, "process 1 (device 1) sent a message of statement 7 (b.cpp:12)"));
  CHECK(contains(text, "device 0 awaits one of statement 7 (a.cpp:40)"));
  CHECK(contains(text, "different programs"));
}

TEST_CASE("the place does not count: two branches may hold the same statement") {
  on_processes({1, 1}, [](Device const& device) {
    if (device.self == DeviceId(1)) {
      put_number(device.to(DeviceId(0)), device.waiter, statement(7, "b.cpp", 12), 5);
    } else {
      CHECK(take_number(device.from(DeviceId(1)), device.waiter, statement(7, "a.cpp", 40)) == 5);
    }
  });
}

TEST_CASE("a process that ends early is a mismatch for those that wait for it") {
  auto const text = mismatch_of(try_on_processes(
      {1, 1},
      [](Device const& device) {
        device.network.set_last_statement(statement(3, "b.cpp", 12));
        if (device.self == DeviceId(1)) return;
        (void)take_number(device.from(DeviceId(1)), device.waiter, statement(4, "a.cpp", 40));
      },
      quick()));

  CAPTURE(text);
  CHECK(contains(text, "process 1 has ended after statement 3 (b.cpp:12)"));
  CHECK(contains(text, "device 0 waits for message 1 of device 1 for statement 4 (a.cpp:40)"));
}

TEST_CASE("waits that go round in a circle are a mismatch") {
  // Everybody waits for the left neighbour and nobody has sent: two processes, more, and several
  // devices of a process.
  for (auto const& spread :
       std::vector<std::vector<std::int64_t>>{{1, 1}, {1, 1, 1}, {2, 2}, {3}, {3, 1}}) {
    CAPTURE(spread.size());
    auto const text = mismatch_of(try_on_processes(
        spread,
        [](Device const& device) {
          auto const line = static_cast<std::uint32_t>(device.self.value() + 10);
          (void)take_number(device.from(device.left()), device.waiter, statement(5, "a.cpp", line));
        },
        quick()));

    CAPTURE(text);
    CHECK(contains(text, "none of these waits can end"));
    CHECK(contains(text, "statement 5 (a.cpp:1"));
  }
}

TEST_CASE("a circle of a full channel and an awaited message is a mismatch") {
  auto const text = mismatch_of(try_on_processes(
      {1, 1},
      [](Device const& device) {
        if (device.self == DeviceId(0)) {
          for (int i = 0; i < 3; ++i)
            put_number(device.to(DeviceId(1)), device.waiter, statement(1, "a.cpp", 1), i);
        } else {
          (void)take_number(device.from(DeviceId(1)), device.waiter, statement(1, "b.cpp", 2));
        }
      },
      quick()));

  CAPTURE(text);
  CHECK(contains(text, "none of these waits can end"));
}

TEST_CASE("a process outside the circle is released too") {
  // 0 waits for 1; 1 and 2 wait for each other.
  auto const failures = try_on_processes(
      {1, 1, 1},
      [](Device const& device) {
        auto const peer = device.self == DeviceId(1) ? DeviceId(2) : DeviceId(1);
        (void)take_number(device.from(peer), device.waiter, statement(1));
      },
      quick());

  for (auto const& failure : failures) {
    REQUIRE(failure);
    CHECK_THROWS_AS(std::rethrow_exception(failure), Mismatch);
  }
}

TEST_CASE("a channel that only one end opens is a mismatch") {
  // Process 0 wants to send, process 1 wants to send too: neither invites the other.
  ThreadJob threads_job(2);
  std::vector<std::exception_ptr> failures(2);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        auto const self = static_cast<std::int64_t>(i);
        auto const bootstrap = threads_job.join(self);
        Job const job(*bootstrap, 1);
        Network network(*bootstrap, job, quick());
        try {
          (void)network.sender(DeviceId(self), DeviceId(1 - self), statement(2, "a.cpp", 3));
        } catch (...) {
          failures[i] = std::current_exception();
          network.announce_failure(failures[i]);
        }
        bootstrap->barrier();
      });
  }

  CHECK(contains(mismatch_of(failures), "none of these waits can end"));
}

TEST_CASE("who waits for a message that has been put is in no circle") {
  std::atomic<int> arrived{0};
  on_processes(
      {1, 1},
      [&](Device const& device) {
        // Both wait for each other, but device 0 has put what device 1 awaits.
        if (device.self == DeviceId(0))
          put_number(device.to(DeviceId(1)), device.waiter, statement(1), 1);
        wait_as_if(device, std::chrono::milliseconds(400));
        wait_for_all(device, arrived);
      },
      nervous());

  CHECK(arrived == 2);
}

TEST_CASE("waits that were never all on at the same time are no circle") {
  std::atomic<int> arrived{0};
  std::atomic<int> turn{0};
  on_processes(
      {1, 1, 1},
      [&](Device const& device) {
        // Devices 1 and 2 take turns, however late their threads are: one of them never waits.
        auto const is_own_turn = [&] { return turn % 2 == device.self.value() - 1; };
        for (int i = 0; i < 20 && device.self != DeviceId(0); ++i, ++turn) {
          device.waiter.until(is_own_turn, {.kind = Awaited::Kind::other});
          wait_as_if(device, std::chrono::milliseconds(20));
        }
        if (device.self == DeviceId(0)) wait_as_if(device, std::chrono::milliseconds(400));
        wait_for_all(device, arrived);
      },
      nervous());

  CHECK(arrived == 3);
}

TEST_CASE("probes that come back together are no circle") {
  std::atomic<int> arrived{0};
  std::atomic<bool> is_over{false};
  on_processes(
      {1, 1, 1},
      [&](Device const& device) {
        // Several probes of device 0 pass device 1 while it waits, and lie before device 2, which
        // looks at them only when it waits itself: then device 1 waits no longer.
        if (device.self == DeviceId(0)) wait_as_if(device, std::chrono::milliseconds(900));
        if (device.self == DeviceId(1)) {
          wait_as_if(device, std::chrono::milliseconds(500));
          is_over = true;
        }
        if (device.self == DeviceId(2)) {
          while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          wait_as_if(device, std::chrono::milliseconds(300));
        }
        wait_for_all(device, arrived);
      },
      nervous());

  CHECK(arrived == 3);
}

TEST_CASE("correct programs with random delays are never a mismatch") {
  for (auto const& spread :
       std::vector<std::vector<std::int64_t>>{{1, 1}, {1, 1, 1, 1}, {2, 2}, {4}, {3, 1}}) {
    on_processes(spread, talk_at_random, nervous());
    on_processes(spread, pass_around_ring, nervous());
  }
}

TEST_CASE("a device that is only late is waited for") {
  on_processes(
      {1, 1, 1},
      [](Device const& device) {
        if (device.self == DeviceId(0)) std::this_thread::sleep_for(std::chrono::milliseconds(500));
        pass_around_ring(device);
      },
      nervous());
}

TEST_SUITE_END();
