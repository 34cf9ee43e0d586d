#include "contract.hpp"

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/network/network.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("network/contract");

namespace {

/// Spreads of up to four devices over processes that are threads.
std::vector<std::vector<std::int64_t>> const spreads{{1},    {2},          {4},   {1, 1},
                                                     {2, 2}, {1, 1, 1, 1}, {3, 1}};

}  // namespace

TEST_CASE("what is put to the right is taken from the left, in order") {
  for (auto const& spread : spreads) on_processes(spread, pass_around_ring);
}

TEST_CASE("a fast sender never overruns late readers") {
  for (auto const& spread : spreads) on_processes(spread, send_one_way);
}

TEST_CASE("a message longer than a slot travels in rounds of pieces") {
  for (auto const& spread : spreads) on_processes(spread, exchange_pieces);
}

TEST_CASE("a sender is at most two messages ahead where the slots are shared") {
  on_processes({1, 1}, [](Device const& device) {
    if (device.self == DeviceId(1)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (std::int64_t i = 0; i < 10; ++i) {
        CHECK(take_number(device.from(DeviceId(0)), device.waiter, statement(1)) == i);
      }
      return;
    }
    auto& sender = device.to(DeviceId(1));
    for (std::int64_t i = 0; i < 10; ++i) {
      put_number(sender, device.waiter, statement(1), i);
      CHECK(sender.messages_put() - sender.end().memory->drained.load() <= 2);
    }
  });
}

TEST_CASE("memory is passed by a socket where /proc does not lead to it") {
  TestOptions options;
  options.hooks.maps_by_proc = false;
  auto const body = [](Device const& device) {
    pass_around_ring(device);
    CHECK(device.network.route(device.self, device.right()) == Route::shm);
  };
  on_processes({1, 1}, body, options);
  on_processes({2, 2}, exchange_pieces, options);
}

TEST_CASE("memory that cannot be had either way is refused") {
  TestOptions options;
  options.forced = Route::shm;
  options.hooks.maps_by_proc = false;
  options.hooks.maps_by_socket = false;

  auto const failures = try_on_processes({1, 1}, pass_around_ring, options);

  for (auto const& failure : failures) {
    REQUIRE(failure);
    CHECK_THROWS_WITH(std::rethrow_exception(failure),
                      doctest::Contains("no other route joins device"));
  }
}

TEST_CASE("a failing device releases those that wait for it") {
  auto const run = [] {
    on_devices(3, [](Device const& device) {
      if (device.self == DeviceId(2)) throw Error("device 2 gives up");
      (void)device.from(DeviceId(2)).take(device.waiter, statement(1));
    });
  };

  CHECK_THROWS_WITH_AS(run(), "device 2 gives up", Error);
}

TEST_CASE("a failing process releases those that wait for it, and says why") {
  auto const failures =
      try_on_processes({1, 2, 1},
                       [](Device const& device) {
                         if (device.self == DeviceId(0)) throw Error("device 0 gives up");
                         (void)device.from(DeviceId(0)).take(device.waiter, statement(1));
                       },
                       {});

  CHECK_THROWS_WITH_AS(std::rethrow_exception(failures[0]), "device 0 gives up", Error);
  for (std::size_t i = 1; i < 3; ++i)
    CHECK_THROWS_WITH_AS(std::rethrow_exception(failures[i]),
                         doctest::Contains("device 0 gives up"), PeerFailed);
}

TEST_CASE("nothing is pending where the ends share memory") {
  on_processes({1, 1}, [](Device const& device) {
    put_number(device.to(device.right()), device.waiter, statement(1), 1);
    CHECK_FALSE(device.network.has_pending());
    CHECK(take_number(device.from(device.left()), device.waiter, statement(1)) == 1);
    CHECK(device.network.route(device.self, device.right()) == Route::shm);
    CHECK(device.network.route(device.self, device.self) == Route::local);
  });
}

TEST_SUITE_END();
