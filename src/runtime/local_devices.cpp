#include "src/runtime/local_devices.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/device/device_limit.hpp"
#include "src/device/drivers/drivers.hpp"
#include "src/device/row_launch.hpp"
#include "src/runtime/start/agreement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// The request of the options and the environment, and the available devices.
struct Wish {
  std::int64_t count = 1;
  std::unique_ptr<DeviceDriver> driver;  // set by the choice
};

// Without a request, GPUs are used only if the program has kernels for them.
std::unique_ptr<DeviceDriver> choose_driver(RuntimeOptions const& options) {
  auto const word = environment_choice("TESSERA_DEVICE", device_words());
  if (!options.kind && !word) {
    auto gpus = gpu_kernels_built() ? find_gpus() : nullptr;
    return gpus ? std::move(gpus) : make_host_driver();
  }
  auto driver = make_driver(options.kind ? *options.kind : kind_of_devices(*word));
  if (driver->count() > 0) return driver;
  throw ConfigError(text("GPUs are requested, but ", driver->reason_for_none(),
                         ", or ask for TESSERA_DEVICE=host"));
}

// One device per process under a launcher, one per core or GPU without one, unless requested
// otherwise.
std::int64_t wanted_count(RuntimeOptions const& options, Bootstrap const& bootstrap,
                          DeviceDriver const& driver) {
  if (options.devices && *options.devices < 1)
    throw ConfigError(text("a process drives at least 1 device, not ", *options.devices));
  auto const asked = options.devices ? options.devices : environment_integer("TESSERA_DEVICES", 1);
  if (driver.traits().is_one_device) {
    if (asked && *asked != 1)
      throw ConfigError(text(asked.value(),
                             " devices in a process need Kokkos' Serial space; here ",
                             launch_description(), " makes the whole process one device"));
    return 1;
  }
  if (!bootstrap.allows_threads()) {
    if (asked && *asked != 1)
      throw ConfigError(text(asked.value(),
                             " devices in a process need a thread each, but MPI was initialised "
                             "with MPI_THREAD_SINGLE; ask for one device, or for "
                             "MPI_THREAD_FUNNELED"));
    return 1;
  }
  if (asked) return *asked;
  if (launched_by_mpi() || bootstrap.process_count() > 1) return 1;
  return driver.devices_alone();
}

// Each device has a thread, and its channel to another process a descriptor while it is opened.
void check_limits(Wish const& wish, RuntimeOptions const& options, Bootstrap const& bootstrap) {
  if (wish.count == 1) return;
  DeviceNeeds const needs{wish.driver->traits().threads_of_device, bytes_of_a_stack(),
                          bootstrap.process_count() > 1 ? 1 : 0};
  auto const most =
      device_limit(rooms_of_this_process(), needs, std::ssize(bootstrap.host_processes()));
  if (wish.count <= most.count) return;
  throw ConfigError(text(options.devices ? "RuntimeOptions::devices = " : "TESSERA_DEVICES=",
                         wish.count, ": this process can drive at most ", most.count,
                         " devices, since ", most.limit, "; ask for fewer, or raise that"));
}

// The number of devices of all earlier processes of this host.
std::int64_t devices_before(Bootstrap& bootstrap, std::int64_t count) {
  auto const counts = bootstrap.host_table({&count, 1});
  auto const processes = bootstrap.host_processes();
  auto const here = std::ranges::find(processes, bootstrap.self()) - processes.begin();
  return std::accumulate(counts.begin(), counts.begin() + here, std::int64_t{0});
}

GivenCommunicators communicators_of(RuntimeOptions const& options) {
  auto const& given = options.nccl_communicators;
  return {{given.begin(), given.end()}, "RuntimeOptions::nccl_communicators"};
}

// Devices are counted over the processes of the host, and several may share a GPU.
std::vector<std::shared_ptr<Queue>> make_queues(DeviceDriver& driver, std::int64_t first,
                                                std::int64_t count) {
  std::vector<std::shared_ptr<Queue>> queues;
  for (std::int64_t i = 0; i < count; ++i)
    queues.push_back(driver.make_queue(static_cast<int>((first + i) % driver.count())));
  return queues;
}

void agree_on_kind(Bootstrap& bootstrap, DeviceKind kind) {
  auto const number = static_cast<std::int64_t>(kind);
  if (bootstrap.is_equal_on_all(number)) return;
  auto const last = bootstrap.max_of(number);
  auto const first = -bootstrap.max_of(-number);
  throw ConfigError(text("some processes drive ", to_string(static_cast<DeviceKind>(first)),
                         " devices and some ", to_string(static_cast<DeviceKind>(last)),
                         " devices; set TESSERA_DEVICE to the same on all of them"));
}

}  // namespace

LocalDevices devices_of_this_process(RuntimeOptions const& options, Bootstrap& bootstrap) {
  Wish wish;
  run_alike(bootstrap, [&] {
    wish.driver = choose_driver(options);
    wish.count = wanted_count(options, bootstrap, *wish.driver);
    check_limits(wish, options, bootstrap);
  });
  auto& driver = *wish.driver;
  agree_on_kind(bootstrap, driver.kind());
  LocalDevices result{wish.count, driver.kind(), {}, communicators_of(options)};
  auto const first = driver.traits().are_dealt_out ? devices_before(bootstrap, wish.count) : 0;
  run_alike(bootstrap, [&] { result.queues = make_queues(driver, first, wish.count); });
  return result;
}

}  // namespace tessera
