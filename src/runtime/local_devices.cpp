#include "src/runtime/local_devices.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <string_view>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/device/cores.hpp"
#include "src/device/row_launch.hpp"
#include "src/statement/kernel.hpp"

namespace tessera {
namespace {

// The request of the options and the environment, and the available devices.
struct Wish {
  std::int64_t count = 1;
  DeviceKind kind = DeviceKind::cpu;
  std::unique_ptr<GpuDriver> driver;  // of GPUs
};

std::unique_ptr<GpuDriver> driver_of(DeviceKind kind) {
  if (kind == DeviceKind::cuda) return make_cuda_driver();
  return kind == DeviceKind::emulated_gpu ? make_emulated_driver() : nullptr;
}

// Without a request, GPUs are used only if the program has kernels for them.
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
          "GPUs are requested, but the CUDA driver shows none to this process; see nvidia-smi and "
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

// One device per process under a launcher, one per core or GPU without one, unless requested
// otherwise.
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

// The number of devices of all earlier processes of this host.
std::int64_t devices_before(Bootstrap& bootstrap, std::int64_t count) {
  auto const counts = bootstrap.host_table({&count, 1});
  auto const processes = bootstrap.host_processes();
  auto const here = std::ranges::find(processes, bootstrap.self()) - processes.begin();
  return std::accumulate(counts.begin(), counts.begin() + here, std::int64_t{0});
}

// Spreads a mistake of one process to all: that process throws its own error, the others name the
// process.
void agree_on_mistakes(Bootstrap& bootstrap, std::exception_ptr const& mistake) {
  auto const mistaken = bootstrap.max_of(mistake ? bootstrap.self().value() : -1);
  if (mistake) std::rethrow_exception(mistake);
  // The others name the process with the highest number that made a mistake.
  if (mistaken >= 0)
    throw ConfigError(text("process ", mistaken,
                           " cannot use the devices it was given; its own error message says why"));
}

void agree_on_kind(Bootstrap& bootstrap, DeviceKind kind) {
  auto const number = static_cast<std::int64_t>(kind);
  std::array<std::int64_t, 2> ends{number, -number};
  bootstrap.max_of_each(ends);
  if (ends[0] == -ends[1]) return;
  throw ConfigError(text("some processes drive ", to_string(static_cast<DeviceKind>(-ends[1])),
                         " devices and some ", to_string(static_cast<DeviceKind>(ends[0])),
                         " devices; set TESSERA_DEVICE to the same on all of them"));
}

// The exception that `f` throws; null if it throws none.
template <class F>
std::exception_ptr mistake_of(F const& f) {
  try {
    f();
    return nullptr;
  } catch (Error const&) {
    return std::current_exception();
  }
}

}  // namespace

LocalDevices LocalDevices::of_this_process(RuntimeOptions const& options, Bootstrap& bootstrap) {
  Wish wish;
  agree_on_mistakes(bootstrap, mistake_of([&] {
                      choose_kind(options, wish);
                      wish.count = wanted_count(options, bootstrap, wish);
                    }));
  agree_on_kind(bootstrap, wish.kind);
  LocalDevices result{wish.count, wish.kind, {}, options.nccl_communicators};
  if (wish.driver == nullptr) return result;
  auto const first = devices_before(bootstrap, wish.count);
  agree_on_mistakes(bootstrap, mistake_of([&] {
                      for (std::int64_t i = 0; i < wish.count; ++i)
                        result.streams.push_back(wish.driver->make_stream(
                            static_cast<int>((first + i) % wish.driver->count())));
                    }));
  return result;
}

}  // namespace tessera
