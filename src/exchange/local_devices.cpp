#include "tessera/exchange/local_devices.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

#include "tessera/base/environment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/cores.hpp"
#include "tessera/device/launch.hpp"
#include "tessera/exchange/kernel.hpp"

namespace tessera {
namespace {

// What the options and the environment ask for, and what there is.
struct Wish {
  std::int64_t count = 1;
  DeviceKind kind = DeviceKind::cpu;
  std::unique_ptr<GpuDriver> driver;  // of GPUs
};

std::unique_ptr<GpuDriver> driver_of(DeviceKind kind) {
  if (kind == DeviceKind::cuda) return make_cuda_driver();
  return kind == DeviceKind::emulated_gpu ? make_emulated_driver() : nullptr;
}

// GPUs are taken unasked only where the program has kernels for them.
void choose_kind(RuntimeOptions const& options, Wish& wish) {
  auto const word = environment_choice("TESSERA_DEVICE", {"host", "cuda", "emulated"});
  if (options.kind || word) {
    wish.kind = options.kind          ? *options.kind
                : *word == "cuda"     ? DeviceKind::cuda
                : *word == "emulated" ? DeviceKind::emulated_gpu
                                      : DeviceKind::cpu;
    wish.driver = driver_of(wish.kind);
    if (wish.driver != nullptr && wish.driver->count() == 0)
      throw ConfigError(
          "GPUs are asked for, but the CUDA driver shows none to this process; see nvidia-smi and "
          "CUDA_VISIBLE_DEVICES, or ask for TESSERA_DEVICE=host");
    return;
  }
  if (!has_cuda_driver() || !gpu_kernels_built()) return;
  wish.driver = make_cuda_driver();
  if (wish.driver->count() > 0)
    wish.kind = DeviceKind::cuda;
  else
    wish.driver.reset();
}

// Under a launcher one device per process, alone one per core or GPU, unless told otherwise.
std::int64_t wanted_count(RuntimeOptions const& options, Bootstrap const& bootstrap,
                          Wish const& wish) {
  if (options.devices && *options.devices < 1)
    throw ConfigError(text("a process drives at least 1 device, not ", *options.devices));
  auto const asked = options.devices ? options.devices : environment_integer("TESSERA_DEVICES", 1);
  if (launch_is_parallel() && wish.kind == DeviceKind::cpu) {
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
  return wish.kind == DeviceKind::cuda ? wish.driver->count() : available_cores();
}

// Which process of its host this is.
std::int64_t rank_on_host(Bootstrap const& bootstrap) {
  auto const processes = bootstrap.host_processes();
  return std::ranges::find(processes, bootstrap.self()) - processes.begin();
}

}  // namespace

LocalDevices LocalDevices::of_this_process(RuntimeOptions const& options, Bootstrap& bootstrap) {
  Wish wish;
  std::exception_ptr mistake;
  try {
    choose_kind(options, wish);
    wish.count = wanted_count(options, bootstrap, wish);
  } catch (Error const&) {
    mistake = std::current_exception();
  }
  // The highest process that made a mistake is named to the others.
  auto const kind = static_cast<std::int64_t>(wish.kind);
  std::array<std::int64_t, 3> highest{mistake ? bootstrap.self().value() : -1, kind, -kind};
  bootstrap.max_of_each(highest);
  if (mistake) std::rethrow_exception(mistake);
  if (highest[0] >= 0)
    throw ConfigError(
        text("process ", highest[0], " cannot have the devices it is told to drive, and says why"));
  if (highest[1] != -highest[2])
    throw ConfigError(text("some processes drive ", to_string(static_cast<DeviceKind>(-highest[2])),
                           " devices and some ", to_string(static_cast<DeviceKind>(highest[1])),
                           " devices; set TESSERA_DEVICE to the same on all of them"));

  LocalDevices result{wish.count, wish.kind, {}};
  if (wish.driver == nullptr) return result;
  auto const first = rank_on_host(bootstrap) * wish.count;
  for (std::int64_t i = 0; i < wish.count; ++i)
    result.streams.push_back(
        wish.driver->make_stream(static_cast<int>((first + i) % wish.driver->count())));
  return result;
}

}  // namespace tessera
