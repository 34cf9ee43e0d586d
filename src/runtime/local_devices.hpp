#pragma once
/// @file
/// Decides which devices a process drives, from the options, the environment and the machine.

#include "tessera/runtime/runtime.hpp"

#include "src/job/bootstrap.hpp"
#include "src/runtime/devices/device_pool.hpp"

namespace tessera {

/// The devices that the options request, or else the environment. Without either: one device under
/// a launcher or if MPI allows no threads, otherwise one per core or GPU. The GPUs of a host are
/// assigned to its processes in turn.
/// Ranks:  collective.
/// Throws: ConfigError, on every process, if any process has a setting that cannot be satisfied;
///         DeviceError.
[[nodiscard]] LocalDevices devices_of_this_process(RuntimeOptions const& options,
                                                   Bootstrap& bootstrap);

}  // namespace tessera
