#include "tessera/exchange/local_devices.hpp"

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("exchange/local_devices");

namespace {

// Of a job of one process, whatever this one is a part of.
LocalDevices devices_for(RuntimeOptions const& options) {
  auto const bootstrap = make_single_bootstrap();
  return LocalDevices::of_this_process(options, *bootstrap);
}

RuntimeOptions asking_for(DeviceKind kind, std::int64_t count) {
  RuntimeOptions options;
  options.kind = kind;
  options.devices = count;
  return options;
}

}  // namespace

TEST_CASE("devices of the host have no streams") {
  auto const devices = devices_for(asking_for(DeviceKind::cpu, 3));
  CHECK(devices.count == 3);
  CHECK(devices.kind == DeviceKind::cpu);
  CHECK(devices.streams.empty());
}

TEST_CASE("devices that are GPUs have a stream each, and go round the GPUs") {
  auto const devices = devices_for(asking_for(DeviceKind::emulated_gpu, 3));
  CHECK(devices.kind == DeviceKind::emulated_gpu);
  REQUIRE(devices.streams.size() == 3);
  auto const& streams = devices.streams;
  CHECK(streams[0] != streams[2]);
  CHECK(streams[0]->stores_to(*streams[2]));  // there are two
  CHECK_FALSE(streams[0]->stores_to(*streams[1]));
}

TEST_CASE("GPUs that are not there are an error, and no cores instead") {
  if (has_cuda_driver() && make_cuda_driver()->count() > 0) return;
  CHECK_THROWS_AS((void)devices_for(asking_for(DeviceKind::cuda, 1)), Error);
}

TEST_CASE("a process drives at least one device, of any kind") {
  CHECK_THROWS_AS((void)devices_for(asking_for(DeviceKind::emulated_gpu, 0)), ConfigError);
  CHECK_THROWS_AS((void)devices_for(asking_for(DeviceKind::cpu, -1)), ConfigError);
}

TEST_SUITE_END();
