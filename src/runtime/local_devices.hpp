#pragma once
/// @file
/// Decides which devices a process drives, from the options, the environment and the machine.

#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/runtime/runtime.hpp"

#include "src/device/communicator.hpp"
#include "src/device/queue.hpp"
#include "src/job/bootstrap.hpp"

namespace tessera {

/// The devices that a process drives.
struct LocalDevices {
  std::int64_t count = 1;
  DeviceKind kind = DeviceKind::cpu;
  std::vector<std::shared_ptr<Queue>> queues;  ///< one per device
  GivenCommunicators communicators;            ///< as RuntimeOptions

  /// The devices that the options request, or else the environment. Without either: one device
  /// under a launcher or if MPI allows no threads, otherwise one per core or GPU. The GPUs of a
  /// host are assigned to its processes in turn.
  /// Ranks:  collective.
  /// Throws: ConfigError, on every process, if any process has a setting that cannot be satisfied;
  ///         DeviceError.
  [[nodiscard]] static LocalDevices of_this_process(RuntimeOptions const& options,
                                                    Bootstrap& bootstrap);
};

}  // namespace tessera
