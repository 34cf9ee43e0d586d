#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "contract.hpp"

using namespace tessera;
using namespace tessera::test;

/// The contract once more, in the job that this test runs in, over every route.
TEST_SUITE_BEGIN("transport/spread");

namespace {

std::vector<NetworkOptions> routes() {
  std::vector<NetworkOptions> all(3);
  all[1].forced = Route::mpi;
  // To higher devices by shared memory, back by MPI.
  all[2].forced_pair = [](DeviceId from, DeviceId to) {
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
  NetworkOptions options;
  options.maps_by_proc = false;
  for (bool const by_socket : {true, false}) {
    options.maps_by_socket = by_socket;
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

TEST_CASE("a sender is at most four messages ahead of its reader over MPI") {
  if (job_bootstrap().process_count() == 1) return;
  NetworkOptions options;
  options.forced = Route::mpi;
  on_job(
      1,
      [](Device const& device) {
        if (device.self == DeviceId(1)) {
          // Serves meanwhile, so that all that can arrive does; far longer than the sender tries,
          // which may be kept from its core.
          auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
          device.waiter.until([&] { return std::chrono::steady_clock::now() > until; },
                              {.kind = Awaited::Kind::other});
          for (std::int64_t i = 0; i < 9; ++i)
            CHECK(take_number(device.from(DeviceId(0)), device.waiter, statement(1)) == i);
        }
        if (device.self != DeviceId(0)) return;
        auto& sender = device.to(DeviceId(1));
        auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
        std::int64_t put = 0;
        device.waiter.until(
            [&] {
              auto const drained = sender.end().memory->drained.load();
              if (put < 9 && sender.messages_put() - drained < 2)
                put_number(sender, device.waiter, statement(1), put++);
              return std::chrono::steady_clock::now() > until;
            },
            {.kind = Awaited::Kind::other});
        CHECK(put == 4);
        while (put < 9) put_number(sender, device.waiter, statement(1), put++);
      },
      options);
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
