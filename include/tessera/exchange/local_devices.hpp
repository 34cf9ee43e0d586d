#pragma once
/// @file
/// Which devices a process drives: by the options, the environment and the machine.

#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/device/gpu.hpp"
#include "tessera/exchange/runtime.hpp"
#include "tessera/transport/bootstrap.hpp"

namespace tessera {

/// What a process drives.
struct LocalDevices {
  std::int64_t count = 1;
  DeviceKind kind = DeviceKind::cpu;
  std::vector<std::shared_ptr<GpuStream>> streams;  ///< of GPUs: one per device
  std::vector<ncclComm*> nccl_communicators;        ///< as RuntimeOptions

  /// As the options ask for, else the environment; else one device under a launcher or where MPI
  /// gave no threads, and one per core or GPU elsewhere. The GPUs of a host go round its processes.
  /// Ranks:  collective.
  /// Throws: ConfigError, on every process, if any has a setting that cannot be met; DeviceError.
  [[nodiscard]] static LocalDevices of_this_process(RuntimeOptions const& options,
                                                    Bootstrap& bootstrap);
};

}  // namespace tessera
