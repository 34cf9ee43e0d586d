#include "src/job/ipc/progress_thread.hpp"

#include <atomic>
#include <cstdint>
#include <semaphore>

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace tessera;

TEST_SUITE_BEGIN("job/ipc/progress_thread");

TEST_CASE("a thread beats until it is stopped, and never after") {
  std::counting_semaphore<> heartbeats{0};
  std::atomic<int> count{0};
  ProgressThread thread;
  thread.at_each_heartbeat([&] {
    ++count;
    heartbeats.release();
  });
  CHECK_FALSE(thread.is_running());
  REQUIRE(thread.start());
  CHECK(thread.is_running());

  heartbeats.acquire();
  heartbeats.acquire();
  thread.stop();

  CHECK_FALSE(thread.is_running());
  auto const last = count.load();
  CHECK(last >= 2);
  thread.stop();  // again does no harm
  CHECK(count == last);
}

TEST_CASE("what is to be read is read at once, not at the next beat") {
  int const event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  REQUIRE(event >= 0);
  std::binary_semaphore is_read{0};
  std::uint64_t value = 0;
  ProgressThread thread;
  thread.when_readable(event, [&] {
    if (::read(event, &value, sizeof value) == sizeof value) is_read.release();
  });
  REQUIRE(thread.start());

  std::uint64_t const sent = 5;
  REQUIRE(::write(event, &sent, sizeof sent) == sizeof sent);
  is_read.acquire();
  thread.stop();

  CHECK(value == 5);
  ::close(event);
}

TEST_SUITE_END();
