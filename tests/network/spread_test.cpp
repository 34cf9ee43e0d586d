#include <algorithm>
#include <chrono>
#include <cstring>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/transport/channel/transports.hpp"

#include "support/left_out.hpp"

#include "contract.hpp"

using namespace tessera;
using namespace tessera::test;

/// The contract once more, in the job that this test runs in, over every route.
TEST_SUITE_BEGIN("network/spread");

namespace {

std::vector<TestOptions> routes() {
  std::vector<TestOptions> all(3);
  all[1].forced = Route::mpi;
  // To higher devices by shared memory, back by MPI.
  all[2].hooks.forced_pair = [](DeviceId from, DeviceId to) {
    return from < to ? Route::shm : Route::mpi;
  };
  if (is_built(Route::ucx)) all.emplace_back().forced = Route::ucx;
  if (job_bootstrap().process_count() == 1) all.resize(1);
  return all;
}

template <class Body>
void on_every_route(Body const& body) {
  for (auto& options : routes()) {
    options.question_seconds = 0.05;
    on_job(devices_per_process(), body, options);
  }
}

std::vector<Route> network_routes() {
  std::vector<Route> routes{Route::mpi};
  if (is_built(Route::ucx)) routes.push_back(Route::ucx);
  return routes;
}

// Device 0 sends numbers in messages of so many bytes, which device 1 does not read until then:
// `least` can be put before that at any rate, and `most` at most.
void run_ahead(Device const& device, std::size_t bytes, std::uint64_t least, std::uint64_t most) {
  constexpr std::uint64_t count = 20;
  using Clock = std::chrono::steady_clock;
  auto const tag = statement(1);
  auto const wait = [&](auto const& ready) {
    device.waiter.until(ready, {.kind = Awaited::Kind::other});
  };
  auto const put_next = [&](Sender& sender) {
    auto const number = sender.messages_put();
    std::memcpy(sender.slot(device.waiter, tag).data(), &number, sizeof number);
    sender.put(tag, static_cast<std::int64_t>(bytes));
  };
  // Puts what can be put, until it was enough and then a while longer.
  auto const put_ahead = [&](Sender& sender) {
    auto end = Clock::now() + std::chrono::seconds(20);
    wait([&] {
      if (sender.messages_put() - sender.end().memory->drained.load() < 2) put_next(sender);
      if (sender.messages_put() >= least)
        end = std::min(end, Clock::now() + std::chrono::milliseconds(100));
      return Clock::now() > end || sender.messages_put() >= count;
    });
    CHECK(sender.messages_put() >= least);
    CHECK(sender.messages_put() <= most);
  };

  if (device.self == DeviceId(0)) put_ahead(device.to(DeviceId(1)));
  auto& job = job_bootstrap();
  job.begin_barrier();
  wait([&] { return job.barrier_done(); });
  if (device.self == DeviceId(0))
    while (device.to(DeviceId(1)).messages_put() < count) put_next(device.to(DeviceId(1)));
  if (device.self != DeviceId(1)) return;
  auto& receiver = device.from(DeviceId(0));
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const message = receiver.take(device.waiter, tag);
    CHECK(message.size() == bytes);
    CHECK(std::memcmp(message.data(), &i, sizeof i) == 0);
    receiver.release();
  }
}

}  // namespace

TEST_CASE("a ring keeps its order over every route") {
  on_every_route(pass_around_ring);
}

TEST_CASE("late readers are not overrun over any route") {
  on_every_route(send_one_way);
}

TEST_CASE("pieces travel in rounds over every route") {
  on_every_route(exchange_pieces);
}

TEST_CASE("random pairs talk over every route") {
  on_every_route(talk_at_random);
}

TEST_CASE("memory that cannot be mapped is passed by a socket, else messages go by MPI") {
  TestOptions options;
  options.hooks.maps_by_proc = false;
  for (bool const by_socket : {true, false}) {
    options.hooks.maps_by_socket = by_socket;
    auto const body = [&](Device const& device) {
      talk_at_random(device);
      if (device.job.is_local(device.right())) return;
      CHECK(device.from(device.right()).end().route == (by_socket ? Route::shm : Route::mpi));
      if (by_socket || device.job.local_count() > 1) return;
      // What shm lacked, then what is used in its place.
      auto const why = device.network.route_reason(device.right(), device.self);
      CHECK(why.starts_with("shm: "));
      CHECK(why.find("; mpi: a channel to process ") != std::string::npos);
    };
    on_job(devices_per_process(), body, options);
  }
}

TEST_CASE("processes may drive different numbers of devices") {
  for (auto const& options : routes())
    on_job(job_bootstrap().self() == ProcessId(0) ? 2 : 1, talk_at_random, options);
}

TEST_CASE("over a network a sender is at most nine short messages ahead, or five long ones") {
  bool const is_alone = job_bootstrap().process_count() == 1;
  if (test::left_out_if(is_alone, "it needs 2 processes")) return;
  TestOptions options;
  for (auto const route : network_routes()) {
    options.forced = route;
    on_job(
        1, [](Device const& device) { run_ahead(device, 8, 9, 9); }, options);
    // MPI may ask whether a long one may come; four receives are posted or have their message.
    on_job(
        1, [](Device const& device) { run_ahead(device, 20'000, 4, 5); }, options);
  }
}

TEST_CASE("the route is the best there is, or the one that is asked for") {
  auto const body = [](Device const& device) {
    auto const wanted = device.job.is_local(device.right()) ? Route::local : Route::shm;
    CHECK(device.network.route(device.self, device.right()) == wanted);
    CHECK(device.network.route_reason(device.self, device.right()) ==
          (wanted == Route::local ? "local: one process drives both"
                                  : "shm: a segment was mapped by both processes"));
    CHECK(device.network.slot_bytes(device.self, device.right()) ==
          device.to(device.right()).slot_bytes());
  };
  if (job_bootstrap().host_processes().size() ==
      static_cast<std::size_t>(job_bootstrap().process_count()))
    on_job(devices_per_process(), body, {});
}

TEST_SUITE_END();
