#include "src/transport/routing.hpp"

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/routing");

namespace {

std::vector<Route> const all_routes{Route::local, Route::shm, Route::ucx, Route::mpi};

/// Process 0 of four with two devices each, two processes a host:
///     host 0: devices 0 1 | 2 3     host 1: devices 4 5 | 6 7
struct Topology {
  FakeJob fake{4, 2};
  Job job{fake[0], 2};

  [[nodiscard]] Routing routing(std::vector<Route> routes = all_routes, ForcedRoutes forced = {}) {
    return {job, fake[0].host_processes(), std::move(routes), std::move(forced)};
  }
};

DeviceId const own{0};
DeviceId const own_other{1};
DeviceId const on_host{2};
DeviceId const on_other_host{6};

}  // namespace

TEST_CASE("devices are as far apart as their processes") {
  Topology topology;
  auto const routing = topology.routing();

  CHECK(routing.distance(own, own_other) == Distance::process);
  CHECK(routing.distance(own, on_host) == Distance::host);
  CHECK(routing.distance(on_host, own) == Distance::host);
  CHECK(routing.distance(own, on_other_host) == Distance::job);
  CHECK(routing.remote_process(on_other_host, own) == ProcessId(3));
}

TEST_CASE("the best route goes through memory where there is memory to share") {
  Topology topology;
  auto const routing = topology.routing();

  CHECK(routing.best(own, own_other) == Route::local);
  CHECK(routing.best(own, on_host) == Route::shm);
  CHECK(routing.best(own, on_other_host) == Route::ucx);
}

TEST_CASE("a route that this process has not is passed over") {
  Topology topology;
  auto const routing = topology.routing({Route::local, Route::mpi});

  CHECK(routing.best(own, on_host) == Route::mpi);
  CHECK(routing.best(own, on_other_host) == Route::mpi);
}

TEST_CASE("after a refusal the next best route is taken, until there is none") {
  Topology topology;
  auto const routing = topology.routing();

  auto const behind_shm = routing.after(Route::shm, own, on_host);
  CHECK(routing.best(own, on_host, behind_shm) == Route::mpi);
  auto const behind_mpi = routing.after(Route::mpi, own, on_host);
  CHECK(routing.best(own, on_host, behind_mpi) == Route::ucx);
  auto const behind_ucx = routing.after(Route::ucx, own, on_host);
  CHECK_THROWS_WITH_AS((void)routing.best(own, on_host, behind_ucx),
                       "no other route joins device 0 and device 2", TransportError);
}

TEST_CASE("a forced route joins processes, never the devices of one") {
  Topology topology;
  auto const routing = topology.routing(all_routes, {Route::mpi, {}});

  CHECK(routing.best(own, own_other) == Route::local);
  CHECK(routing.best(own, on_host) == Route::mpi);
  CHECK(routing.best(own, on_other_host) == Route::mpi);
  CHECK_FALSE(routing.forced(own, own_other));
}

TEST_CASE("a forced route that cannot join a pair is an error that names it") {
  Topology topology;
  auto const routing = topology.routing(all_routes, {Route::shm, {}});

  CHECK_THROWS_WITH_AS((void)routing.best(own, on_other_host),
                       "no route joins device 0 and device 6 while TESSERA_ROUTE=shm is set",
                       TransportError);
}

TEST_CASE("a pair may have a route of its own") {
  Topology topology;
  auto const to_device_2 = [](DeviceId, DeviceId to) -> std::optional<Route> {
    if (to == on_host) return Route::mpi;
    return std::nullopt;
  };
  auto const routing = topology.routing(all_routes, {Route::ucx, to_device_2});

  CHECK(routing.best(own, on_host) == Route::mpi);
  CHECK(routing.best(on_host, own) == Route::ucx);
}

TEST_SUITE_END();
