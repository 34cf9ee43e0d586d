#include "src/runtime/local_devices.hpp"

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/device/cuda/driver.hpp"

#include "support/left_out.hpp"
#include "support/setting.hpp"

using namespace tessera;
using test::Setting;

TEST_SUITE_BEGIN("runtime/local_devices");

namespace {

// Of a job of one process, whatever this one is a part of.
LocalDevices devices_for(RuntimeOptions const& options) {
  auto const bootstrap = make_single_bootstrap();
  return devices_of_this_process(options, *bootstrap);
}

RuntimeOptions asking_for(DeviceKind kind, std::int64_t count) {
  RuntimeOptions options;
  options.kind = kind;
  options.devices = count;
  return options;
}

}  // namespace

TEST_CASE("what the options ask for wins over the environment") {
  Setting const kind("TESSERA_DEVICE", "emulated");
  Setting const count("TESSERA_DEVICES", "4");

  auto const told = devices_for(asking_for(DeviceKind::cpu, 3));
  auto const untold = devices_for({});

  CHECK(told.kind == DeviceKind::cpu);
  CHECK(told.count == 3);
  CHECK(untold.kind == DeviceKind::emulated_gpu);
  CHECK(untold.count == 4);
  CHECK(untold.queues.size() == 4);
}

TEST_CASE("a setting that cannot be read is an error that names it") {
  Setting const host("TESSERA_DEVICE", "host");
  {
    Setting const count("TESSERA_DEVICES", "many");
    CHECK_THROWS_AS((void)devices_for({}), ConfigError);
  }
  Setting const kind("TESSERA_DEVICE", "abacus");
  CHECK_THROWS_AS((void)devices_for({}), ConfigError);
}

TEST_CASE("devices of the host share the host's eager queue") {
  auto const devices = devices_for(asking_for(DeviceKind::cpu, 3));
  CHECK(devices.count == 3);
  CHECK(devices.kind == DeviceKind::cpu);
  REQUIRE(devices.queues.size() == 3);
  for (auto const& queue : devices.queues) CHECK(queue.get() == &host_queue());
}

TEST_CASE("devices that are GPUs have a queue each, and go round the GPUs") {
  auto const devices = devices_for(asking_for(DeviceKind::emulated_gpu, 3));
  CHECK(devices.kind == DeviceKind::emulated_gpu);
  REQUIRE(devices.queues.size() == 3);
  auto const& queues = devices.queues;
  CHECK(queues[0] != queues[2]);
  CHECK(queues[0]->stores_to(*queues[2]));  // there are two
  CHECK_FALSE(queues[0]->stores_to(*queues[1]));
}

TEST_CASE("GPUs that are not there are an error, and no cores instead") {
  bool const has_gpus = has_cuda_driver() && make_cuda_driver()->count() > 0;
  if (test::left_out_if(has_gpus, "there are GPUs")) return;
  CHECK_THROWS_AS((void)devices_for(asking_for(DeviceKind::cuda, 1)), Error);
}

TEST_CASE("more devices than this process can have are refused before any is made") {
  auto const words_of = [](RuntimeOptions const& options) {
    try {
      (void)devices_for(options);
    } catch (ConfigError const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (auto const kind : {DeviceKind::cpu, DeviceKind::emulated_gpu})
    CHECK(words_of(asking_for(kind, 100'000'000))
              .starts_with("RuntimeOptions::devices = 100000000: this process can drive at most "));
  Setting const count("TESSERA_DEVICES", "100000000");
  CHECK(words_of({}).starts_with("TESSERA_DEVICES=100000000: this process can drive at most "));
}

TEST_CASE("a process drives at least one device, of any kind") {
  CHECK_THROWS_AS((void)devices_for(asking_for(DeviceKind::emulated_gpu, 0)), ConfigError);
  CHECK_THROWS_AS((void)devices_for(asking_for(DeviceKind::cpu, -1)), ConfigError);
}

TEST_SUITE_END();
