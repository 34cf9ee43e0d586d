#include "tessera/exchange/local_devices.hpp"

#include <exception>

#include "tessera/base/environment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/cores.hpp"
#include "tessera/device/launch.hpp"

namespace tessera {
namespace {

// Under a launcher one device per process, alone one per core, unless told otherwise.
std::int64_t wanted_devices(RuntimeOptions const& options, Bootstrap const& bootstrap) {
  if (options.devices && *options.devices < 1)
    throw ConfigError(text("a process drives at least 1 device, not ", *options.devices));
  auto const asked = options.devices ? options.devices : environment_integer("TESSERA_DEVICES", 1);
  if (launch_is_parallel()) {
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
  return launched_by_mpi() || bootstrap.process_count() > 1 ? 1 : available_cores();
}

}  // namespace

std::int64_t devices_of_this_process(RuntimeOptions const& options, Bootstrap& bootstrap) {
  std::int64_t count = 0;
  std::exception_ptr mistake;
  try {
    count = wanted_devices(options, bootstrap);
  } catch (ConfigError const&) {
    mistake = std::current_exception();
  }
  // The highest process that has one is named to the others.
  auto const mistaken = bootstrap.max_of(mistake ? bootstrap.self().value() : -1);
  if (mistake) std::rethrow_exception(mistake);
  if (mistaken >= 0)
    throw ConfigError(
        text("process ", mistaken, " cannot have the devices it is told to drive, and says why"));
  return count;
}

}  // namespace tessera
